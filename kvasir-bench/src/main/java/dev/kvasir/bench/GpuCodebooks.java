package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.codec.commvq.ValueCoding;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.commvq.CommvqCodebooks;
import dev.kvasir.cuda.formats.commvq.CommvqFormat;
import dev.kvasir.error.InvalidInputException;
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

  /**
   * Adds codebooks for one layer.
   *
   * @param valueHeads KV heads whose values share codes; 0 for the default
   */
  static DeviceCacheConfig with(DeviceCacheConfig cacheConfig, GpuShape shape, int valueHeads) {
    float[] frequencies = new float[shape.heads().headDim() / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(ROPE_BASE, -(double) pair / frequencies.length);
    }
    Rotation rotation = new Rope(RopeLayout.INTERLEAVED, frequencies);
    return with(cacheConfig, shape.heads(), valueHeads, 1, rotation, shape.tokens());
  }

  /** Adds codebooks for all layers of a model. */
  static DeviceCacheConfig with(DeviceCacheConfig cacheConfig, ModelConfig config, int valueHeads) {
    return with(
        cacheConfig,
        config.attentionShape(),
        valueHeads,
        config.layers(),
        config.rotation(),
        config.contextLength());
  }

  private static DeviceCacheConfig with(
      DeviceCacheConfig cacheConfig,
      AttentionShape heads,
      int valueHeads,
      int layers,
      Rotation rotation,
      int positions) {
    if (!(cacheConfig.format() instanceof CommvqFormat commvq)) {
      return cacheConfig;
    }
    if (commvq.values() != ValueCoding.STAGES) {
      throw new InvalidInputException(
          "--kv has '%s', whose networks cannot be random; expected values=stages"
              .formatted(commvq));
    }
    int sharing = sharing(heads, valueHeads);
    ModelCodebooks books =
        RandomCodebookProfile.model(heads, sharing, layers, commvq.bits(), rotation);
    CommvqCodebooks model = new CommvqCodebooks(books, cacheConfig.sinks(), positions, BEAM);
    return new DeviceCacheConfig(
        new CommvqFormat(commvq.bits(), commvq.values(), commvq.scoring(), model),
        cacheConfig.group(),
        cacheConfig.window(),
        cacheConfig.sinks());
  }

  private static int sharing(AttentionShape heads, int valueHeads) {
    if (valueHeads == 0) {
      return CommvqShape.defaultValueHeads(heads.kvHeads(), heads.headDim());
    }
    if (valueHeads < 0 || heads.kvHeads() % valueHeads != 0) {
      throw new InvalidInputException(
          "--value-heads is %d; expected a divisor of %d KV heads"
              .formatted(valueHeads, heads.kvHeads()));
    }
    return valueHeads;
  }
}
