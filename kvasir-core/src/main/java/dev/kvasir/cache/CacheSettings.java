package dev.kvasir.cache;

import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/**
 * How a cache keeps its tokens.
 *
 * @param precision of tokens that are not packed
 * @param sinks the first tokens, never packed
 * @param window the most recent tokens, never packed
 * @param codec packs what is neither; empty to pack nothing
 * @param lookups how packed pages are read
 * @param budget bytes that it may take, with a codec that shrinks its pages; empty without a limit
 */
public record CacheSettings(
    Precision precision,
    int sinks,
    int window,
    Optional<PageCodec> codec,
    Lookups lookups,
    Optional<Budget> budget) {
  public CacheSettings(
      Precision precision, int sinks, int window, Optional<PageCodec> codec, Lookups lookups) {
    this(precision, sinks, window, codec, lookups, Optional.empty());
  }

  CacheSettings within(Budget value) {
    return new CacheSettings(precision, sinks, window, codec, lookups, Optional.of(value));
  }
}
