package dev.kvasir.model;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Quantizes like the toy method, and observes everything that a codec can observe before.
 *
 * @param toy codec that quantizes
 * @param queries number of queries whose attention to a token counts
 * @param tokens most unquantized tokens
 * @param prefersQuantizedPrefill whether prompt rows are computed like those of a single token
 * @param begun sequences created so far
 */
record AttentiveCodec(
    PageCodec toy,
    CacheShape shape,
    int queries,
    int tokens,
    boolean prefersQuantizedPrefill,
    List<AttentiveSequence> begun)
    implements PageCodec {
  /**
   * @param toySpec spec of the toy method
   */
  static CacheConfig settings(
      CacheShape shape, String toySpec, int queries, boolean prefersQuantizedPrefill) {
    CacheConfig toy = CacheSpec.parse(toySpec).configFor(shape).cacheConfig(shape);
    PageCodec codec =
        new AttentiveCodec(
            toy.codec().orElseThrow(),
            shape,
            queries,
            toy.sinks() + toy.window() + Page.TOKENS,
            prefersQuantizedPrefill,
            new ArrayList<>());
    return new CacheConfig(toy.precision(), toy.sinks(), toy.window(), Optional.of(codec));
  }

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    begun.add(new AttentiveSequence(this, pool));
    return begun.getLast();
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    throw new UnsupportedOperationException("no test needs it");
  }

  @Override
  public long pageBytes() {
    return toy.pageBytes();
  }

  @Override
  public long codeBytes() {
    return toy.codeBytes();
  }
}
