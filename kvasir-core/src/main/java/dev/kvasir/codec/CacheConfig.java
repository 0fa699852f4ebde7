package dev.kvasir.codec;

import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * How a cache keeps its tokens.
 *
 * @param precision of tokens that are not packed
 * @param sinks the first tokens, never packed
 * @param window the most recent tokens, never packed
 * @param codec packs what is neither; empty to pack nothing
 * @param budget bytes that it may take, with a codec that shrinks its pages; empty without a limit
 * @param oldPages how those far behind are stored; empty where they are as they lie in memory
 */
public record CacheConfig(
    Precision precision,
    int sinks,
    int window,
    Optional<PageCodec> codec,
    Optional<CacheBudget> budget,
    Optional<ColdBlocks> coldBlocks) {
  public CacheConfig(Precision precision, int sinks, int window, Optional<PageCodec> codec) {
    this(precision, sinks, window, codec, Optional.empty(), Optional.empty());
  }

  /** The same with what becomes of its codec, where it has one. */
  public CacheConfig mapCodec(UnaryOperator<PageCodec> change) {
    return new CacheConfig(
        precision,
        sinks,
        window,
        codec.map(change),
        budget,
        coldBlocks.map(old -> old.mapCodec(change)));
  }

  /** The same within a budget. */
  public CacheConfig withBudget(CacheBudget value) {
    return new CacheConfig(precision, sinks, window, codec, Optional.of(value), coldBlocks);
  }

  /** The same with another way to store old pages. */
  public CacheConfig withColdBlocks(ColdBlocks value) {
    return new CacheConfig(precision, sinks, window, codec, budget, Optional.of(value));
  }
}
