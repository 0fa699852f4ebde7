package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Kernels;

/**
 * A layer's keys and values in a block, as attention reads them: a quantized page or dense rows. It
 * scores and accumulates itself with the readers of the calling worker. Blocks hold their views, so
 * that reading one allocates nothing.
 *
 * <p>A view is valid until its cache changes, or while the cache is pinned.
 */
public sealed interface BlockView permits DenseRows, SharedPage {
  /**
   * Announces the view as the last one of a pass to the reader of its kind.
   *
   * @return whether it is a quantized page; dense rows need no announcement
   */
  boolean prefetch(BlockReaders readers, int kvHead);

  /**
   * Returns how many tokens to score and accumulate if only the first {@code visible} ones are
   * seen. A page is read as a whole.
   */
  int tokensToRead(int visible);

  /**
   * Computes the scores of the first {@code tokens} tokens.
   *
   * @param tokens a result of {@link #tokensToRead}
   * @param queries (rows, keyDim)
   * @param scores (rows, {@link Page#TOKENS}), set
   */
  void score(
      BlockReaders readers, int kvHead, int tokens, float[] queries, int rows, float[] scores);

  /**
   * Adds the weighted values of the tokens that were scored last.
   *
   * @param weights (rows, {@link Page#TOKENS}), none below zero, and zero for unseen tokens
   * @param accumulator (rows, valueDim), added to
   */
  void accumulate(
      BlockReaders readers, int kvHead, int tokens, float[] weights, int rows, float[] accumulator);

  /** Writes the first {@code tokens} keys of a KV head as floats: (tokens, keyDim). */
  void expandKeys(Kernels kernels, int kvHead, int tokens, float[] out);

  /** Writes the first {@code tokens} values of a KV head as floats: (tokens, valueDim). */
  void expandValues(Kernels kernels, int kvHead, int tokens, float[] out);

  /** Returns the quantized page; null for dense rows. */
  Page page();
}
