package dev.kvasir.chat;

import dev.kvasir.ToolFormat;
import dev.kvasir.cache.CacheSpec;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The limits of a chat service.
 *
 * @param cacheSpecs cache specs that requests may select; the first one is the default
 * @param contextLimit tokens of a prompt and its completion, at most the model's own limit
 * @param defaultMaxTokens length of a completion whose request sets no limit
 * @param maxSequences sequences that run concurrently
 * @param maxQueued requests that wait for admission
 * @param timeout limit on the duration of a completion
 * @param toolFormat how the model writes tool calls; empty to recognise it from the chat template
 */
public record ServingOptions(
    List<CacheSpec> cacheSpecs,
    int contextLimit,
    int defaultMaxTokens,
    int maxSequences,
    int maxQueued,
    Duration timeout,
    Optional<ToolFormat> toolFormat) {

  public ServingOptions {
    cacheSpecs = List.copyOf(cacheSpecs);
  }

  /** Creates options that recognise the tool format. */
  public ServingOptions(
      List<CacheSpec> cacheSpecs,
      int contextLimit,
      int defaultMaxTokens,
      int maxSequences,
      int maxQueued,
      Duration timeout) {
    this(
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        timeout,
        Optional.empty());
  }

  public ServingOptions withToolFormat(Optional<ToolFormat> value) {
    return new ServingOptions(
        cacheSpecs, contextLimit, defaultMaxTokens, maxSequences, maxQueued, timeout, value);
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
