package dev.kvasir.lab.mead;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.AnswerMargins;
import dev.kvasir.lab.gradient.Objective;
import dev.kvasir.lab.gradient.SampledTokens;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.model.ModelConfig;

/**
 * Computes the metric sums of one text.
 *
 * @param number number of the text, from 0 on
 */
record TextMetricTask(int number, MarkedText marked, long seed) implements TracedTask<float[]> {
  @Override
  public String name() {
    return "text %d, %s".formatted(number + 1, marked.hasAnswers() ? "questions" : "prose");
  }

  @Override
  public double cost() {
    return marked.tokens().length;
  }

  @Override
  public int[] text() {
    return marked.tokens();
  }

  /**
   * @return {@link MetricSums} as floats
   */
  @Override
  public float[] run(TracedDecoder decoder, ProgressListener listener) {
    ModelConfig config = decoder.config();
    MetricSums sums =
        new MetricSums(config.layers(), config.kvHeads(), config.keyDim(), config.valueDim());
    Objective objective =
        marked.hasAnswers() ? new AnswerMargins(marked.answers(), seed) : new SampledTokens(seed);
    MetricTally tally = new MetricTally(new TokenKvLayout(decoder), sums, listener);
    Objective.Loss loss =
        decoder
            .gradients(marked.tokens(), objective, tally)
            .orElseThrow(WorkCancelledException::new);
    sums.addLossTokens(loss.counted());
    return sums.floats();
  }
}
