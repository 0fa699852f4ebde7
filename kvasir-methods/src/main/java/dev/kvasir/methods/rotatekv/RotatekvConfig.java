package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.basis.PerTokenScales;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.Set;

/**
 * Configuration of RotateKV: groups of heads rotated together, reordered and quantized per token.
 *
 * @param spec the spec as typed
 * @param heads most heads that are rotated together
 * @param order how channels are sorted after the rotation
 */
record RotatekvConfig(
    String spec, UniformOptions options, int heads, Clipping clipping, ChannelOrder order)
    implements QuantizationConfig {
  private static final int DEFAULT_HEADS = 4;
  private static final int MAX_HEADS = 64;

  /** As in the paper's code. */
  private static final int DEFAULT_SINKS = 20;

  static RotatekvConfig of(SpecText spec) {
    UniformOptions options = UniformOptions.of(spec, "heads", "clip", "order");
    return new RotatekvConfig(
        spec.text(),
        spec.has("sinks") ? options : options.withSinks(DEFAULT_SINKS),
        spec.between("heads", DEFAULT_HEADS, 1, MAX_HEADS),
        new Clipping((float) spec.fraction("clip", 1, 1)),
        spec.choice("order", ChannelOrder.ON));
  }

  /** Without a profile all channels keep their places, which is enough to estimate bytes. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return cacheConfig(shape, CacheContext.unknown(), Optional.empty());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    if (order != ChannelOrder.CALIBRATED) {
      return cacheConfig(shape, context, Optional.empty());
    }
    Profile profile =
        context
            .profileWith(RotatekvProfile.PART)
            .orElseThrow(
                () ->
                    context.missingCalibration(
                        spec, "channel order", "find it", RotatekvProfile.PART));
    return cacheConfig(shape, context, Optional.of(RotatekvProfile.of(profile, shape)));
  }

  private CacheConfig cacheConfig(
      CacheShape shape, CacheContext context, Optional<RotatekvProfile> profile) {
    KeyGroups groups =
        new KeyGroups(
            shape.kvHeads(),
            headsPerGroup(shape.kvHeads()),
            shape.keyDim(),
            order == ChannelOrder.ON,
            context.rotation());
    return options.cacheConfig(
        new RotatekvCodec(
            groups,
            profile.map(known -> known.orders(shape, groups, Hadamard.plain(groups.width()))),
            PerTokenScales.head(options, shape),
            options.operandPrecision(),
            options.group(),
            clipping));
  }

  @Override
  public Set<String> profileParts() {
    return order == ChannelOrder.CALIBRATED ? Set.of(RotatekvProfile.PART) : Set.of();
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
