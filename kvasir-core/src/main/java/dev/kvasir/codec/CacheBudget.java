package dev.kvasir.codec;

import dev.kvasir.kernel.WorkerPool;

/**
 * The bytes that a cache may use in total, including codes, scales, residual window and sinks.
 *
 * @param spec the cache spec as typed
 * @param bytes the limit; 0 for the minimum that holds {@code tokens}
 * @param tokens the tokens to hold; 0 if {@code bytes} is given
 * @param scope which pages to requantize when the limit is reached
 * @param workers threads that requantize pages
 */
public record CacheBudget(
    String spec, long bytes, int tokens, RequantizeScope scope, WorkerPool workers) {
  public static CacheBudget of(String spec, long bytes, RequantizeScope scope, WorkerPool workers) {
    return new CacheBudget(spec, bytes, 0, scope, workers);
  }

  /** Returns the smallest budget that holds a sequence of the given length. */
  public static CacheBudget minimumFor(
      String spec, int tokens, RequantizeScope scope, WorkerPool workers) {
    return new CacheBudget(spec, 0, tokens, scope, workers);
  }

  /**
   * Returns the smallest number of bytes that hold a sequence, without a method's tables.
   *
   * @param config the cache's sinks, window and precision
   * @param blockBytes quantized bytes of {@link Page#TOKENS} tokens in all layers
   */
  public static long minimumBytes(
      CacheShape shape, CacheConfig config, int tokens, long blockBytes) {
    long rest = Math.max(0, (long) tokens - config.sinks());
    // The last token is appended before a block is quantized for it.
    long blocks = Math.max(0, rest - config.window() - 1) / Page.TOKENS;
    long dense = Math.ceilDiv(rest - blocks * Page.TOKENS, (long) Page.TOKENS);
    long denseBefore = blocks == 0 ? 0 : Math.ceilDiv(config.window() + Page.TOKENS, Page.TOKENS);
    long token = shape.valuesPerToken() * config.precision().bytes();
    long denseBlock = Page.TOKENS * token;
    return config.sinks() * token
        + Math.max(
            (blocks + 1) * blockBytes + dense * denseBlock,
            blocks * blockBytes + denseBefore * denseBlock);
  }

  public boolean isMinimum() {
    return tokens > 0;
  }
}
