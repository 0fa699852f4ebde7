package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.commvq.CommvqCodebooks;
import dev.kvasir.cuda.formats.commvq.CommvqFormat;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;

/** Adds random codebooks to cache configurations that need them. */
final class GpuCodebooks {
  private static final double ROPE_BASE = 500_000;

  /** The default beam of one bit. */
  private static final int BEAM = 4;

  private GpuCodebooks() {}

  /** Adds codebooks for one layer. */
  static DeviceCacheConfig with(DeviceCacheConfig cacheConfig, GpuShape shape) {
    float[] frequencies = new float[shape.heads().headDim() / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(ROPE_BASE, -(double) pair / frequencies.length);
    }
    Rotation rotation = new Rope(RopeLayout.INTERLEAVED, frequencies);
    return with(cacheConfig, shape.heads(), 1, rotation, shape.tokens());
  }

  /** Adds codebooks for all layers of a model. */
  static DeviceCacheConfig with(DeviceCacheConfig cacheConfig, ModelConfig config) {
    return with(
        cacheConfig,
        config.attentionShape(),
        config.layers(),
        config.rotation(),
        config.contextLength());
  }

  private static DeviceCacheConfig with(
      DeviceCacheConfig cacheConfig,
      AttentionShape heads,
      int layers,
      Rotation rotation,
      int positions) {
    if (!(cacheConfig.format() instanceof CommvqFormat commvq)) {
      return cacheConfig;
    }
    ModelCodebooks books = RandomCodebookProfile.model(heads, layers, commvq.bits(), rotation);
    CommvqCodebooks model = new CommvqCodebooks(books, cacheConfig.sinks(), positions, BEAM);
    return new DeviceCacheConfig(
        new CommvqFormat(commvq.bits(), model),
        cacheConfig.group(),
        cacheConfig.window(),
        cacheConfig.sinks());
  }
}
