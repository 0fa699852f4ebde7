package dev.kvasir.codec.latent;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A method's configuration for latent attention. Keys are wider than the values they contain: the
 * method quantizes the latents, and the remaining rotary channels are quantized separately.
 *
 * @param spec the spec as typed
 * @param rotaryWidth bits of the rotary channels, if given
 */
public record LatentQuantizationConfig(
    String spec, QuantizationConfig methodConfig, Optional<RotaryWidth> rotaryWidth)
    implements QuantizationConfig {
  /** The spec key for rotary bits, accepted by every method that quantizes. */
  public static final String KEY = "rotary";

  private static final SortedSet<Integer> WIDTHS = new TreeSet<>(Set.of(8, 16));

  /** Returns the rotary bits of a spec. The method does not see this key. */
  public static Optional<RotaryWidth> parseRotaryWidth(SpecText spec) {
    return spec.value(KEY) != null
        ? Optional.of(spec.oneOf(KEY, 8, WIDTHS) == 8 ? RotaryWidth.BITS_8 : RotaryWidth.BITS_16)
        : Optional.empty();
  }

  /** Returns whether keys have rotary channels behind a latent. */
  public static boolean appliesTo(CacheShape shape) {
    return shape.hasValuesInKeys() && shape.keyDim() > shape.valueDim();
  }

  private interface Settings {
    CacheConfig of(CacheShape shape, CacheContext context);
  }

  private CacheConfig with(Settings settings, CacheShape shape, CacheContext context) {
    RotaryChannels rotary = RotaryChannels.of(shape, rotaryWidth.orElse(RotaryWidth.BITS_8));
    CacheConfig ofLatents =
        settings.of(shape.latentShape(), context.withRotation(Optional.empty()));
    if (rotaryWidth.isPresent() && ofLatents.codec().isEmpty()) {
      throw new InvalidInputException(
          "the cache '%s' packs nothing; %s is for caches that do".formatted(spec, KEY));
    }
    return ofLatents.mapCodec(codec -> LatentCodec.of(codec, rotary, context));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return with((heads, _) -> methodConfig.cacheConfig(heads), shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return with(methodConfig::estimationConfig, shape, context);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    return with(methodConfig::cacheConfig, shape, context);
  }

  @Override
  public boolean supportsValuesInKeys() {
    return methodConfig.supportsValuesInKeys();
  }

  @Override
  public Set<String> profileParts() {
    return methodConfig.profileParts();
  }

  @Override
  public String resolvedSpec(String text, CacheContext context) {
    return methodConfig.resolvedSpec(text, context);
  }
}
