package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.CommvqFormat;
import dev.kvasir.cuda.CommvqModel;
import dev.kvasir.cuda.PageFormat;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;

/** Formats of pages with random codebooks, where they need any. */
final class GpuCodebooks {
  private static final double ROPE_BASE = 500_000;

  /** The default of one bit. */
  private static final int BEAM = 4;

  private GpuCodebooks() {}

  /** For one layer. */
  static PageFormat with(PageFormat format, GpuShape shape) {
    float[] frequencies = new float[shape.heads().headDim() / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(ROPE_BASE, -(double) pair / frequencies.length);
    }
    Rotation rotation = new Rope(RopeLayout.NEIGHBOURS, frequencies);
    return with(format, shape.heads(), 1, rotation, shape.tokens());
  }

  /** For all layers of a model. */
  static PageFormat with(PageFormat format, ModelConfig config) {
    return with(
        format,
        config.attentionShape(),
        config.layers(),
        config.rotation(),
        config.contextLength());
  }

  private static PageFormat with(
      PageFormat format, AttentionShape heads, int layers, Rotation rotation, int positions) {
    if (!(format instanceof CommvqFormat commvq)) {
      return format;
    }
    ModelCodebooks books = RandomCodebooks.model(heads, layers, commvq.bits(), rotation);
    CommvqModel model =
        new CommvqModel(books, 0, positions, BEAM, KernelChoice.ofThisProcess().kernels());
    return new CommvqFormat(commvq.bits(), model);
  }
}
