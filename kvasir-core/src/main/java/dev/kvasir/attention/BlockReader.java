package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;

/**
 * Computes on one kind of block. An instance belongs to one worker and may keep scratch memory.
 * Which of the tokens a row sees is not its business: weights of unseen ones are zero.
 */
interface BlockReader {
  /**
   * Scores of the first {@code tokens} tokens of a block.
   *
   * @param queries (rows, headDim)
   * @param scores (rows, {@link PageWalk#PAGE}), set
   */
  void score(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] queries,
      int rows,
      float[] scores);

  /**
   * Adds the weighted values of the first {@code tokens} tokens of a block.
   *
   * @param weights (rows, {@link PageWalk#PAGE})
   * @param mixed (rows, headDim), added to
   */
  void mix(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] weights,
      int rows,
      float[] mixed);
}
