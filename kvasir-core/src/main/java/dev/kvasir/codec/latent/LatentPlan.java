package dev.kvasir.codec.latent;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
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
public record LatentPlan(String spec, CachePlan method, Optional<RotaryWidth> typed)
    implements CachePlan {
  /** The key of any method that packs, beside its own. */
  public static final String KEY = "rotary";

  private static final SortedSet<Integer> WIDTHS = new TreeSet<>(Set.of(8, 16));

  /** What a spec says of channels that turn; the method does not see it. */
  public static Optional<RotaryWidth> width(SpecText spec) {
    return spec.value(KEY) != null
        ? Optional.of(spec.oneOf(KEY, 8, WIDTHS) == 8 ? RotaryWidth.BITS_8 : RotaryWidth.BITS_16)
        : Optional.empty();
  }

  private interface Settings {
    CacheSettings of(CacheShape shape, CacheHost host);
  }

  private CacheSettings with(Settings settings, CacheShape shape, CacheHost host) {
    if (!hasRotary(shape)) {
      if (typed.isPresent()) {
        throw new InvalidInputException(
            "the cache '%s' has a width for channels that turn behind a latent; here keys have none"
                .formatted(spec));
      }
      return settings.of(shape, host);
    }
    RotaryChannels rotary = RotaryChannels.of(shape, typed.orElse(RotaryWidth.BITS_8));
    CacheSettings ofLatents = settings.of(shape.ofLatents(), host.withRotation(Optional.empty()));
    if (typed.isPresent() && ofLatents.codec().isEmpty()) {
      throw new InvalidInputException(
          "the cache '%s' packs nothing; %s is for caches that do".formatted(spec, KEY));
    }
    return ofLatents.map(codec -> LatentCodec.of(codec, rotary, host));
  }

  private static boolean hasRotary(CacheShape shape) {
    return shape.hasValuesInKeys() && shape.keyDim() > shape.valueDim();
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return with((heads, _) -> method.settings(heads), shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return with(method::foretelling, shape, host);
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    return with(method::settings, shape, host);
  }

  @Override
  public boolean takesValuesInKeys() {
    return method.takesValuesInKeys();
  }

  @Override
  public Set<String> profileParts() {
    return method.profileParts();
  }

  @Override
  public String named(String text, CacheHost host) {
    return method.named(text, host);
  }
}
