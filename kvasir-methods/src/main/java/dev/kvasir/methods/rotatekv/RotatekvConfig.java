package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.PerTokenScales;
import dev.kvasir.codec.uniform.UniformOptions;

/**
 * Configuration of RotateKV: groups of heads rotated together, reordered and quantized per token.
 *
 * @param heads most heads that are rotated together
 * @param reordersChannels whether channels are sorted after the rotation
 */
record RotatekvConfig(
    UniformOptions options, int heads, Clipping clipping, boolean reordersChannels)
    implements QuantizationConfig {
  private static final int DEFAULT_HEADS = 4;
  private static final int MAX_HEADS = 64;

  /** As in the paper's code. */
  private static final int DEFAULT_SINKS = 20;

  static RotatekvConfig of(SpecText spec) {
    UniformOptions options = UniformOptions.of(spec, "heads", "clip", "order");
    return new RotatekvConfig(
        spec.has("sinks") ? options : options.withSinks(DEFAULT_SINKS),
        spec.between("heads", DEFAULT_HEADS, 1, MAX_HEADS),
        new Clipping((float) spec.fraction("clip", 1, 1)),
        spec.isOn("order"));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return cacheConfig(shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    KeyGroups groups =
        new KeyGroups(
            shape.kvHeads(),
            headsPerGroup(shape.kvHeads()),
            shape.keyDim(),
            reordersChannels,
            context.rotation());
    return options.cacheConfig(
        new RotatekvCodec(
            groups,
            PerTokenScales.head(options, shape),
            options.operandPrecision(),
            options.group(),
            clipping));
  }

  /**
   * Returns the largest group size, up to the requested one, that divides the number of KV heads.
   */
  private int headsPerGroup(int kvHeads) {
    int most = Math.min(heads, kvHeads);
    while (kvHeads % most != 0) {
      most--;
    }
    return most;
  }
}
