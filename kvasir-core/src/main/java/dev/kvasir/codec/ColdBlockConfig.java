package dev.kvasir.codec;

import dev.kvasir.spi.QuantizationMethod;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A configuration that serializes old blocks with fewer bits. In {@code cold=2@4096}, a block is
 * old once 4096 tokens follow it. Any stateless method accepts the key. Because the key is part of
 * the spec, it is part of the identity of stored bytes: a cache without the key never reads such
 * pages.
 *
 * @param spec the spec as typed
 * @param base the configuration of pages in memory
 * @param cold the configuration of serialized old pages
 * @param minDistance tokens that follow an old page
 */
public record ColdBlockConfig(
    SpecText spec, QuantizationConfig base, QuantizationConfig cold, int minDistance)
    implements QuantizationConfig {
  /** The spec key, as in {@code cold=2@4096}. */
  public static final String KEY = "cold";

  private static final Pattern TYPED = Pattern.compile("([0-9]{1,2})@([0-9]{1,7})");

  /** Spec keys that override the bits after the colon. */
  private static final Set<String> OTHER_BITS = Set.of("k", "v", "widths");

  private interface Settings {
    CacheConfig of(QuantizationConfig config);
  }

  /** Returns the configuration for a spec: {@code base} unless the spec has this key. */
  public static QuantizationConfig of(
      SpecText spec, QuantizationMethod method, QuantizationConfig base) {
    if (!spec.has(KEY)) {
      return base;
    }
    Matcher typed = TYPED.matcher(Optional.ofNullable(spec.value(KEY)).orElse(""));
    if (!typed.matches()) {
      throw spec.invalid(
          "%s is '%s'; expected bits and tokens, as in 2@4096".formatted(KEY, spec.value(KEY)));
    }
    SpecText coldSpec = spec.without(KEY);
    for (String key : OTHER_BITS) {
      coldSpec = coldSpec.without(key);
    }
    QuantizationConfig cold = method.parse(coldSpec.withBits(typed.group(1)));
    return new ColdBlockConfig(spec, base, cold, Integer.parseInt(typed.group(2)));
  }

  private CacheConfig with(Settings settings) {
    CacheConfig made = settings.of(base);
    PageCodec coldCodec = settings.of(cold).codec().orElse(null);
    if (!(made.codec().orElse(null) instanceof StatelessCodec own)
        || !(coldCodec instanceof StatelessCodec codec)) {
      throw spec.invalid("%s is for kinds that keep nothing of a sequence".formatted(KEY));
    }
    if (codec.sharedBytes() > 0) {
      throw spec.invalid("%s would need tables of its own".formatted(KEY));
    }
    if (codec.pageBytes() >= own.pageBytes()) {
      throw spec.invalid(
          "%s has pages of %d bytes; expected fewer than the %d that pages have in memory"
              .formatted(KEY, codec.pageBytes(), own.pageBytes()));
    }
    return made.withColdBlocks(new ColdBlocks(minDistance, codec));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return with(config -> config.cacheConfig(shape));
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return with(config -> config.estimationConfig(shape, context));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    return with(config -> config.cacheConfig(shape, context));
  }

  @Override
  public boolean supportsValuesInKeys() {
    return base.supportsValuesInKeys();
  }

  @Override
  public Set<String> profileParts() {
    Set<String> parts = new HashSet<>(base.profileParts());
    parts.addAll(cold.profileParts());
    return Set.copyOf(parts);
  }

  @Override
  public String resolvedSpec(String text, CacheContext context) {
    return base.resolvedSpec(text, context);
  }
}
