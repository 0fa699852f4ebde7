package dev.kvasir;

import dev.kvasir.cache.CacheSpec;

/**
 * The cache and limits of a session.
 *
 * @param contextLimit maximum tokens, at most the model's own limit
 * @param prefill when the tokens of a prompt are quantized; a builder takes what the cache asks
 *     for, unless it is set
 * @param tenant owner of the text, whose prefixes are never used for another; empty for all
 */
public record SessionOptions(KvCacheSpec cache, int contextLimit, Prefill prefill, String tenant) {
  /** When the tokens of a prompt are quantized. */
  public enum Prefill {
    /** During prefill: memory grows only with the quantized pages. */
    CHUNKED,

    /**
     * After prefill: prompt tokens attend to each other in full precision, and memory holds all of
     * them until then.
     */
    EXACT
  }

  public SessionOptions {
    if (contextLimit < 1) {
      throw new IllegalArgumentException(
          "contextLimit is %d; expected at least 1".formatted(contextLimit));
    }
  }

  /** Returns options with half precision and the model's full context. */
  public static SessionOptions defaults() {
    return builder().build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return builder().cache(cache).contextLimit(contextLimit).prefill(prefill).tenant(tenant);
  }

  /** Builds {@link SessionOptions}. */
  public static final class Builder {
    private KvCacheSpec cache = CacheSpec.DEFAULT;
    private int contextLimit = Integer.MAX_VALUE;
    private Prefill prefill; // null to use the cache's own
    private String tenant = "";

    private Builder() {}

    public Builder cache(KvCacheSpec value) {
      cache = value;
      return this;
    }

    /**
     * Sets the cache by its spec, such as {@code kivi:2}.
     *
     * @throws KvasirException if there is no such cache
     */
    public Builder cache(String spec) {
      return cache(KvCacheSpec.parse(spec));
    }

    /** Limits the tokens, at most to the model's own limit. */
    public Builder contextLimit(int tokens) {
      contextLimit = tokens;
      return this;
    }

    /** Sets when prompts are quantized, whatever the cache asks for. */
    public Builder prefill(Prefill value) {
      prefill = value;
      return this;
    }

    public Builder tenant(String value) {
      tenant = value;
      return this;
    }

    public SessionOptions build() {
      return new SessionOptions(
          cache,
          contextLimit,
          prefill == null ? CacheSpec.of(cache).prefill().orElse(Prefill.CHUNKED) : prefill,
          tenant);
    }
  }
}
