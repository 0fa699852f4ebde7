package dev.kvasir.chat;

import dev.kvasir.cache.CacheSpec;
import java.time.Duration;
import java.util.List;

/**
 * The limits of a chat service.
 *
 * @param cacheSpecs cache specs that requests may select; the first one is the default
 * @param contextLimit tokens of a prompt and its completion, at most the model's own limit
 * @param defaultMaxTokens length of a completion whose request sets no limit
 * @param maxSequences sequences that run concurrently
 * @param maxQueued requests that wait for admission
 * @param timeout limit on the duration of a completion
 */
public record ServingOptions(
    List<CacheSpec> cacheSpecs,
    int contextLimit,
    int defaultMaxTokens,
    int maxSequences,
    int maxQueued,
    Duration timeout) {

  public ServingOptions {
    cacheSpecs = List.copyOf(cacheSpecs);
  }

  /**
   * Returns the defaults: FP16 cache, the model's context, 2,048 tokens per completion, 64
   * sequences, 256 queued requests, ten minutes per completion.
   */
  public static ServingOptions defaults() {
    return new ServingOptions(
        List.of(CacheSpec.DEFAULT), Integer.MAX_VALUE, 2048, 64, 256, Duration.ofMinutes(10));
  }
}
