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
public record CacheSettings(
    Precision precision,
    int sinks,
    int window,
    Optional<PageCodec> codec,
    Optional<Budget> budget,
    Optional<OldPages> oldPages) {
  public CacheSettings(Precision precision, int sinks, int window, Optional<PageCodec> codec) {
    this(precision, sinks, window, codec, Optional.empty(), Optional.empty());
  }

  /** The same with what becomes of its codec, where it has one. */
  public CacheSettings map(UnaryOperator<PageCodec> change) {
    return new CacheSettings(
        precision, sinks, window, codec.map(change), budget, oldPages.map(old -> old.map(change)));
  }

  /** The same within a budget. */
  public CacheSettings within(Budget value) {
    return new CacheSettings(precision, sinks, window, codec, Optional.of(value), oldPages);
  }

  /** The same with another way to store old pages. */
  public CacheSettings storing(OldPages value) {
    return new CacheSettings(precision, sinks, window, codec, budget, Optional.of(value));
  }
}
