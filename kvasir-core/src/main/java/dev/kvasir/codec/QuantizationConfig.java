package dev.kvasir.codec;

import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.Set;

/** A parsed cache spec, independent of the model's dimensions. */
public interface QuantizationConfig {
  /**
   * Returns a configuration from which the size of a cache can be estimated. Methods that need no
   * further facts about the model use it for inference too.
   */
  CacheConfig cacheConfig(CacheShape shape);

  /** Returns a configuration for size estimates that depend on the context limit or the profile. */
  default CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape);
  }

  /**
   * Returns the configuration for inference.
   *
   * @throws dev.kvasir.error.InvalidInputException if the method requires an unknown fact about the
   *     model
   */
  default CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape);
  }

  /**
   * Returns the budget of a sequence whose layers have heads of different sizes; empty if its pages
   * keep their bits, or if the method cannot divide a budget among such layers.
   */
  default Optional<CacheBudget> mixedHeadsBudget(CacheShape shape, CacheContext context) {
    return Optional.empty();
  }

  /** Returns whether the method supports values that are part of keys, as in latent attention. */
  default boolean supportsValuesInKeys() {
    return false;
  }

  /**
   * Returns the profile parts that the quantized bytes depend on. Stored bytes made with other
   * contents of these parts do not match a cache of this configuration.
   */
  default Set<String> profileParts() {
    return Set.of();
  }

  /**
   * Returns a sentence that warns of a profile that may not suit this cache; empty if nothing is
   * known against it.
   *
   * @param profile the profile of the model
   */
  default Optional<String> warning(Profile profile) {
    return Optional.empty();
  }

  /** Returns a spec with the settings that the model's profile determines. */
  default String resolvedSpec(String text, CacheContext context) {
    return text;
  }
}
