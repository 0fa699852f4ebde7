package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;

/**
 * Computes on one kind of block. An instance belongs to one worker and may keep scratch memory.
 * Which of the tokens a row sees is not its business: weights of unseen ones are zero.
 */
interface BlockReader {
  /** A walk begins: queries are other ones, and nothing has been mixed yet. */
  default void begin() {}

  /** Whether a block is read as a whole, because what it has of a part costs as much. */
  default boolean readsWholeBlocks() {
    return false;
  }

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

  /**
   * The running maximum of a row has grown: what a reader holds back of its weights shrinks. Called
   * between {@link #score} and {@link #mix}.
   */
  default void shrink(int row, float factor) {}

  /**
   * The walk is over: a reader adds what it held back, say weights that were summed by code over
   * all blocks, because the vectors of the codes are the same for each.
   *
   * @param mixed (rows, headDim), added to
   */
  default void end(int rows, float[] mixed) {}
}
