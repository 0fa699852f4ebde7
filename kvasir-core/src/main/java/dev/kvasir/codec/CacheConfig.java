package dev.kvasir.codec;

import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * How a KV cache stores its tokens.
 *
 * @param precision format of tokens that are not quantized
 * @param sinks number of first tokens that are never quantized
 * @param window number of most recent tokens that are never quantized (the residual window)
 * @param codec quantizes all other tokens; empty for a dense cache
 * @param budget byte limit, for a codec that can requantize its pages; empty without a limit
 * @param coldBlocks how old blocks are serialized; empty to serialize them as they are in memory
 * @param defersPrompts whether prompts are quantized only after their prefill, unless the caller
 *     decides otherwise
 */
public record CacheConfig(
    Precision precision,
    int sinks,
    int window,
    Optional<PageCodec> codec,
    Optional<CacheBudget> budget,
    Optional<ColdBlocks> coldBlocks,
    boolean defersPrompts) {
  public CacheConfig(Precision precision, int sinks, int window, Optional<PageCodec> codec) {
    this(precision, sinks, window, codec, Optional.empty(), Optional.empty(), false);
  }

  /** Returns a copy with a transformed codec, if it has one. */
  public CacheConfig mapCodec(UnaryOperator<PageCodec> change) {
    return new CacheConfig(
        precision,
        sinks,
        window,
        codec.map(change),
        budget,
        coldBlocks.map(old -> old.mapCodec(change)),
        defersPrompts);
  }

  /** Returns a copy with a byte limit. */
  public CacheConfig withBudget(CacheBudget value) {
    return new CacheConfig(
        precision, sinks, window, codec, Optional.of(value), coldBlocks, defersPrompts);
  }

  /** Returns a copy that serializes old blocks as given. */
  public CacheConfig withColdBlocks(ColdBlocks value) {
    return new CacheConfig(
        precision, sinks, window, codec, budget, Optional.of(value), defersPrompts);
  }

  /** Returns a copy that quantizes prompts after their prefill. */
  public CacheConfig deferringPrompts() {
    return new CacheConfig(precision, sinks, window, codec, budget, coldBlocks, true);
  }
}
