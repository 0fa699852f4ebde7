package dev.kvasir;

import dev.kvasir.cache.CacheSpec;

/**
 * What a session may hold and how.
 *
 * @param cache how keys and values are kept
 * @param contextLimit tokens that the session may hold, at most the model's own limit
 * @param prefill when the tokens of a prompt are packed
 * @param tenant whose text it is: what one has read is never used for another; empty for all
 */
public record SessionOptions(CacheSpec cache, int contextLimit, Prefill prefill, String tenant) {
  public SessionOptions {
    if (contextLimit < 1) {
      throw new IllegalArgumentException(
          "contextLimit is %d; expected at least 1".formatted(contextLimit));
    }
  }

  /** Half precision, as much context as the model has. */
  public static SessionOptions defaults() {
    return new SessionOptions(CacheSpec.DEFAULT, Integer.MAX_VALUE, Prefill.CHUNKED, "");
  }

  public SessionOptions withCache(CacheSpec value) {
    return new SessionOptions(value, contextLimit, prefill, tenant);
  }

  public SessionOptions withContextLimit(int value) {
    return new SessionOptions(cache, value, prefill, tenant);
  }

  public SessionOptions withPrefill(Prefill value) {
    return new SessionOptions(cache, contextLimit, value, tenant);
  }

  public SessionOptions withTenant(String value) {
    return new SessionOptions(cache, contextLimit, prefill, value);
  }
}
