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

  public boolean isMinimum() {
    return tokens > 0;
  }
}
