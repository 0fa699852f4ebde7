package dev.kvasir.codec;

import dev.kvasir.kernel.WorkerPool;

/**
 * Bytes that a cache may take, all in: codes, scales, window, sinks.
 *
 * @param spec the cache as the user typed it
 * @param bytes 0 for the least that holds {@code tokens}
 * @param tokens 0 where bytes are given
 * @param step which pages become narrower when they do not fit
 * @param crew threads that make pages narrower
 */
public record CacheBudget(
    String spec, long bytes, int tokens, RequantizeScope scope, WorkerPool workers) {
  public static CacheBudget of(String spec, long bytes, RequantizeScope scope, WorkerPool workers) {
    return new CacheBudget(spec, bytes, 0, scope, workers);
  }

  /** The least that holds a sequence of so many tokens. */
  public static CacheBudget minimumFor(
      String spec, int tokens, RequantizeScope scope, WorkerPool workers) {
    return new CacheBudget(spec, 0, tokens, scope, workers);
  }

  public boolean isMinimum() {
    return tokens > 0;
  }
}
