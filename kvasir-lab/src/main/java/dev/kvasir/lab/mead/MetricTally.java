package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.FarGradients;
import dev.kvasir.lab.gradient.LayerAttended;
import dev.kvasir.lab.gradient.LayerGradients;
import dev.kvasir.lab.gradient.TextVisitor;
import java.util.OptionalInt;

/** Adds up how a loss depends on what far queries read, over the tokens of one text. */
final class MetricTally implements TextVisitor {
  private static final int NEAR = Page.TOKENS;

  private final HeadVectors vectors;
  private final MetricSums sums;
  private final WorkListener listener;
  private final PageRanks[] ranks; // by layer

  MetricTally(HeadVectors vectors, MetricSums sums, WorkListener listener) {
    this.vectors = vectors;
    this.sums = sums;
    this.listener = listener;
    this.ranks = new PageRanks[sums.layers()];
  }

  @Override
  public OptionalInt near() {
    return OptionalInt.of(NEAR);
  }

  @Override
  public boolean attended(LayerAttended attended) {
    ranks[attended.layer()] = new PageRanks(attended.received(NEAR), sums.kvHeads());
    return !listener.stopped();
  }

  @Override
  public boolean backward(LayerGradients gradients) {
    FarGradients far = gradients.far().orElseThrow();
    float[] joined = vectors.joined(far.keyGradients(), far.valueGradients());
    PageRanks ofLayer = ranks[gradients.layer()];
    for (int token = 0; token < gradients.tokens(); token++) {
      int at = token * vectors.width();
      for (int head = 0; head < sums.kvHeads(); head++) {
        int part = ofLayer.part(head, token);
        if (part != PageRanks.NONE) {
          sums.add(
              gradients.layer(),
              head,
              part,
              joined,
              at + vectors.keyAt(head),
              at + vectors.valueAt(head));
        }
      }
    }
    return !listener.stopped();
  }
}
