package dev.kvasir.codec;

import java.util.Set;

/** What a spec stands for, before the model's sizes are known. */
public interface CachePlan {
  /** Settings that foretell a cache's bytes; all that a method needs which asks for no more. */
  CacheSettings settings(CacheShape shape);

  /** The same where it depends on the host what a cache takes: on its limit, or its profile. */
  default CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return settings(shape);
  }

  /**
   * Settings to keep tokens with.
   *
   * @throws dev.kvasir.error.InvalidInputException where the method needs what is not known of the
   *     model
   */
  default CacheSettings settings(CacheShape shape, CacheHost host) {
    return settings(shape);
  }

  /** Whether it can do without values of their own, where they are part of keys. */
  default boolean takesValuesInKeys() {
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
  default String named(String text, CacheHost host) {
    return text;
  }
}
