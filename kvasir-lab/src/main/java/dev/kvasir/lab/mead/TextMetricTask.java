package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.ActivationPrecision;
import dev.kvasir.lab.gradient.AnswerMargins;
import dev.kvasir.lab.gradient.AttentionResult;
import dev.kvasir.lab.gradient.LayerGradients;
import dev.kvasir.lab.gradient.LongRangeGradients;
import dev.kvasir.lab.gradient.Objective;
import dev.kvasir.lab.gradient.SampledTokens;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.gradient.TracedTask;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.model.ModelConfig;
import java.util.OptionalInt;

/**
 * Computes the metric sums of one text.
 *
 * @param number number of the text, from 0 on
 */
record TextMetricTask(int number, MarkedText marked, long seed) implements TracedTask<float[]> {
  @Override
  public String name() {
    return "text %d, %s".formatted(number + 1, marked.hasAnswers() ? "lookups" : "prose");
  }

  @Override
  public ActivationPrecision precision() {
    return ActivationPrecision.BYTES;
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

  /** Accumulates the long-range gradients of one text into metric sums. */
  private static final class MetricTally implements TextVisitor {
    private static final int FAR_DISTANCE = Page.TOKENS;

    /** A layer's backward pass takes four times as long as its forward pass. */
    private static final int PARTS = 5;

    private final TokenKvLayout layout;
    private final MetricSums sums;
    private final ProgressListener listener;
    private final PageRanks[] ranks; // by layer

    MetricTally(TokenKvLayout layout, MetricSums sums, ProgressListener listener) {
      this.layout = layout;
      this.sums = sums;
      this.listener = listener;
      this.ranks = new PageRanks[sums.layers()];
    }

    @Override
    public OptionalInt farDistance() {
      return OptionalInt.of(FAR_DISTANCE);
    }

    @Override
    public boolean afterAttention(AttentionResult result) {
      ranks[result.layer()] = new PageRanks(result.attentionMass(FAR_DISTANCE), sums.kvHeads());
      listener.progress(result.layer() + 1, PARTS * sums.layers());
      return !listener.isCancelled();
    }

    @Override
    public boolean backward(LayerGradients gradients) {
      LongRangeGradients far = gradients.longRange().orElseThrow();
      float[] joined = layout.joined(gradients.layer(), far.keyGradients(), far.valueGradients());
      PageRanks ofLayer = ranks[gradients.layer()];
      for (int token = 0; token < gradients.tokens(); token++) {
        int at = token * layout.width();
        for (int head = 0; head < sums.kvHeads(); head++) {
          int part = ofLayer.rankOf(head, token);
          if (part != PageRanks.NONE) {
            sums.add(
                gradients.layer(),
                head,
                part,
                joined,
                at + layout.keyAt(head),
                at + layout.valueAt(head));
          }
        }
      }
      int back = sums.layers() - gradients.layer();
      listener.progress(sums.layers() + (PARTS - 1) * back, PARTS * sums.layers());
      return !listener.isCancelled();
    }
  }
}
