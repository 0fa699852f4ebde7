package dev.kvasir.codec;

import java.util.Set;

/** What a spec stands for, before the model's sizes are known. */
public interface QuantizationConfig {
  /** Settings that foretell a cache's bytes; all that a method needs which asks for no more. */
  CacheConfig cacheConfig(CacheShape shape);

  /** The same where it depends on the host what a cache takes: on its limit, or its profile. */
  default CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape);
  }

  /**
   * Settings to keep tokens with.
   *
   * @throws dev.kvasir.error.InvalidInputException where the method needs what is not known of the
   *     model
   */
  default CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape);
  }

  /** Whether it can do without values of their own, where they are part of keys. */
  default boolean supportsValuesInKeys() {
    return false;
  }

  /**
   * The parts of a profile that what it packs depends on. What was packed with other numbers in
   * them has nothing to do with a cache of this plan.
   */
  default Set<String> profileParts() {
    return Set.of();
  }

  /** A spec's text with what the model's profile decides for it. */
  default String resolvedSpec(String text, CacheContext context) {
    return text;
  }
}
