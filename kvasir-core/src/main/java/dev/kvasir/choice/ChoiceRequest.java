package dev.kvasir.choice;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import java.util.function.Predicate;

/**
 * What a cache is chosen for.
 *
 * @param shape the shape of the model's cache
 * @param context facts about the model, its profile included
 * @param tokens the longest context
 * @param stepTokens the most tokens of a step
 * @param memoryBytes bytes for one sequence of that context and the tables of the cache
 * @param supports whether the device supports a cache
 */
public record ChoiceRequest(
    CacheShape shape,
    CacheContext context,
    int tokens,
    int stepTokens,
    long memoryBytes,
    Predicate<CacheSpec> supports) {

  /** A request for a device that supports every cache. */
  public ChoiceRequest(
      CacheShape shape, CacheContext context, int tokens, int stepTokens, long memoryBytes) {
    this(shape, context, tokens, stepTokens, memoryBytes, any -> true);
  }

  public ChoiceRequest withSupport(Predicate<CacheSpec> value) {
    return new ChoiceRequest(shape, context, tokens, stepTokens, memoryBytes, value);
  }

  /** Returns the most bytes of a sequence and of the tables that its cache needs. */
  long bytes(CacheSpec spec) {
    CacheContext limited = context.withContextLimit(tokens);
    return spec.maxBytes(shape, limited, tokens, stepTokens) + spec.sharedBytes(shape, limited);
  }
}
