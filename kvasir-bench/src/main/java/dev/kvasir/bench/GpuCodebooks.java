package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.CommvqFormat;
import dev.kvasir.cuda.CommvqModel;
import dev.kvasir.cuda.PageKind;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;

/** Kinds of pages with random codebooks, where they need any. */
final class GpuCodebooks {
  private static final double ROPE_BASE = 500_000;

  /** The default of one bit. */
  private static final int BEAM = 4;

  private GpuCodebooks() {}

  /** For one layer. */
  static PageKind with(PageKind kind, GpuShape shape) {
    float[] frequencies = new float[shape.heads().headDim() / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(ROPE_BASE, -(double) pair / frequencies.length);
    }
    Rotation rotation = new Rope(RopeLayout.NEIGHBOURS, frequencies);
    return with(kind, shape.heads(), 1, rotation, shape.tokens());
  }

  /** For all layers of a model. */
  static PageKind with(PageKind kind, ModelConfig config) {
    return with(
        kind, config.attentionShape(), config.layers(), config.rotation(), config.contextLength());
  }

  private static PageKind with(
      PageKind kind, AttentionShape heads, int layers, Rotation rotation, int positions) {
    if (!(kind.format() instanceof CommvqFormat commvq)) {
      return kind;
    }
    ModelCodebooks books = RandomCodebooks.model(heads, layers, commvq.bits(), rotation);
    CommvqModel model = new CommvqModel(books, kind.sinks(), positions, BEAM);
    return new PageKind(
        new CommvqFormat(commvq.bits(), model), kind.group(), kind.window(), kind.sinks());
  }
}
