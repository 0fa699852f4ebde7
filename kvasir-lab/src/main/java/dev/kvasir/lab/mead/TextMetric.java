package dev.kvasir.lab.mead;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.AnswerMargins;
import dev.kvasir.lab.gradient.Objective;
import dev.kvasir.lab.gradient.SampledTokens;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedPiece;
import dev.kvasir.lab.work.Stopped;
import dev.kvasir.model.ModelConfig;

/**
 * Follows the loss back in one text.
 *
 * @param number of the text, from 0 on
 */
record TextMetric(int number, MarkedText marked, long seed) implements TracedPiece<float[]> {
  @Override
  public String name() {
    return "text %d, %s".formatted(number + 1, marked.asks() ? "questions" : "prose");
  }

  @Override
  public double work() {
    return marked.tokens().length;
  }

  @Override
  public int[] text() {
    return marked.tokens();
  }

  /**
   * @return numbers of {@link MetricSums}
   */
  @Override
  public float[] run(TracedDecoder decoder, WorkListener listener) {
    ModelConfig config = decoder.config();
    MetricSums sums =
        new MetricSums(config.layers(), config.kvHeads(), config.keyDim(), config.valueDim());
    Objective objective =
        marked.asks() ? new AnswerMargins(marked.answers(), seed) : new SampledTokens(seed);
    MetricTally tally = new MetricTally(new HeadVectors(decoder), sums, listener);
    Objective.Loss loss =
        decoder.gradients(marked.tokens(), objective, tally).orElseThrow(Stopped::new);
    sums.count(loss.counted());
    return sums.floats();
  }
}
