package dev.kvasir;

import dev.kvasir.cache.CacheSpec;

/**
 * The cache and limits of a session.
 *
 * @param cache the cache specification
 * @param contextLimit maximum tokens, at most the model's own limit
 * @param prefill when the tokens of a prompt are quantized
 * @param tenant owner of the text, whose prefixes are never used for another; empty for all
 */
public record SessionOptions(CacheSpec cache, int contextLimit, Prefill prefill, String tenant) {
  public SessionOptions {
    if (contextLimit < 1) {
      throw new IllegalArgumentException(
          "contextLimit is %d; expected at least 1".formatted(contextLimit));
    }
  }

  /** Returns options with half precision and the model's full context. */
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
