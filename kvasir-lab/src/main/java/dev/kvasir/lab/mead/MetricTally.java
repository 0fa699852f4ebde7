package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.AttentionResult;
import dev.kvasir.lab.gradient.LayerGradients;
import dev.kvasir.lab.gradient.LongRangeGradients;
import dev.kvasir.lab.gradient.TextVisitor;
import java.util.OptionalInt;

/** Accumulates the long-range gradients of one text into metric sums. */
final class MetricTally implements TextVisitor {
  private static final int FAR_DISTANCE = Page.TOKENS;

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
    return !listener.isCancelled();
  }

  @Override
  public boolean backward(LayerGradients gradients) {
    LongRangeGradients far = gradients.longRange().orElseThrow();
    float[] joined = layout.joined(far.keyGradients(), far.valueGradients());
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
    return !listener.isCancelled();
  }
}
