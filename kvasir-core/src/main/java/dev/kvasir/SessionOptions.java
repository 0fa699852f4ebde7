package dev.kvasir;

import dev.kvasir.cache.CacheSpec;

/**
 * What a session may hold and how.
 *
 * @param cache how keys and values are kept
 * @param contextLimit tokens that the session may hold, at most the model's own limit
 */
public record SessionOptions(CacheSpec cache, int contextLimit) {
  public SessionOptions {
    if (contextLimit < 1) {
      throw new IllegalArgumentException(
          "contextLimit is %d; expected at least 1".formatted(contextLimit));
    }
  }

  /** Half precision, as much context as the model has. */
  public static SessionOptions defaults() {
    return new SessionOptions(CacheSpec.DEFAULT, Integer.MAX_VALUE);
  }

  public SessionOptions withCache(CacheSpec value) {
    return new SessionOptions(value, contextLimit);
  }

  public SessionOptions withContextLimit(int value) {
    return new SessionOptions(cache, value);
  }
}
