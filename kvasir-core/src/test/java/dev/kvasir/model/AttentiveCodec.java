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
 * Packs as the toy method does, and wants to know all that can be known of tokens before.
 *
 * @param toy what packs
 * @param queries of which a token's received attention counts
 * @param tokens that are not packed at the most
 * @param readsPromptsPacked whether a prompt's rows compute as those of a single token do
 * @param begun the sequences that it has begun
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
   * @param toySpec of the toy method
   */
  static CacheConfig settings(
      CacheShape shape, String toySpec, int queries, boolean readsPromptsPacked) {
    CacheConfig toy = CacheSpec.parse(toySpec).config().cacheConfig(shape);
    PageCodec codec =
        new AttentiveCodec(
            toy.codec().orElseThrow(),
            shape,
            queries,
            toy.sinks() + toy.window() + Page.TOKENS,
            readsPromptsPacked,
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
