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
 * A method's plan, for heads of any shape: of keys that are wider than the values in them, the
 * method packs the latents, and the channels behind them are packed beside.
 *
 * @param spec as typed
 * @param typed the width of channels that turn, where it was given
 */
public record LatentQuantizationConfig(
    String spec, QuantizationConfig methodConfig, Optional<RotaryWidth> rotaryWidth)
    implements QuantizationConfig {
  /** The key of any method that packs, beside its own. */
  public static final String KEY = "rotary";

  private static final SortedSet<Integer> WIDTHS = new TreeSet<>(Set.of(8, 16));

  /** What a spec says of channels that turn; the method does not see it. */
  public static Optional<RotaryWidth> parseRotaryWidth(SpecText spec) {
    return spec.value(KEY) != null
        ? Optional.of(spec.oneOf(KEY, 8, WIDTHS) == 8 ? RotaryWidth.BITS_8 : RotaryWidth.BITS_16)
        : Optional.empty();
  }

  private interface Settings {
    CacheConfig of(CacheShape shape, CacheContext context);
  }

  private CacheConfig with(Settings settings, CacheShape shape, CacheContext context) {
    if (!hasRotary(shape)) {
      if (rotaryWidth.isPresent()) {
        throw new InvalidInputException(
            "the cache '%s' has a width for channels that turn behind a latent; here keys have none"
                .formatted(spec));
      }
      return settings.of(shape, context);
    }
    RotaryChannels rotary = RotaryChannels.of(shape, rotaryWidth.orElse(RotaryWidth.BITS_8));
    CacheConfig ofLatents =
        settings.of(shape.latentShape(), context.withRotation(Optional.empty()));
    if (rotaryWidth.isPresent() && ofLatents.codec().isEmpty()) {
      throw new InvalidInputException(
          "the cache '%s' packs nothing; %s is for caches that do".formatted(spec, KEY));
    }
    return ofLatents.mapCodec(codec -> LatentCodec.of(codec, rotary, context));
  }

  private static boolean hasRotary(CacheShape shape) {
    return shape.hasValuesInKeys() && shape.keyDim() > shape.valueDim();
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
