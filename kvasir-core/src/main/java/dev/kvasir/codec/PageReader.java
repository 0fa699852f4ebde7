package dev.kvasir.codec;

/**
 * Attends to pages of one kind for a few query rows that share a KV head. An instance belongs to
 * one worker and may keep scratch memory. It need not know which tokens are masked: their weights
 * are zero.
 */
public interface PageReader {
  /** Maximum query rows that attend together. */
  int MAX_ROWS = 8;

  /**
   * Maximum query rows of a prompt that attend to a block together, where a page kind supports more
   * than {@link #MAX_ROWS}. It is large enough to amortize the conversion of halves to floats, and
   * small enough that the weights stay in the L2 cache.
   */
  int PREFILL_ROWS = 64;

  /** Starts a pass over the pages of a head, with new queries and an empty accumulator. */
  default void beginPass() {}

  /**
   * Announces the last page of the current pass. Readers that cache data shared by pages can
   * prepare all of it at once.
   *
   * @param page a page of this reader's kind
   */
  default void prefetch(Page page, int kvHead) {}

  /**
   * Computes the scores of all tokens of a page.
   *
   * @param page a page of this reader's kind
   * @param queries (rows, keyDim)
   * @param scores (rows, {@link Page#TOKENS}), set
   */
  void score(Page page, int kvHead, float[] queries, int rows, float[] scores);

  /**
   * Adds the weighted values of all tokens of the page that was scored last.
   *
   * @param weights (rows, {@link Page#TOKENS}), none below zero
   * @param accumulator (rows, valueDim), added to
   */
  void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator);

  /**
   * Scales the deferred sums of a row after its running maximum has grown. Called between {@link
   * #score} and {@link #accumulate}, for any page of the pass.
   */
  default void rescale(int row, float factor) {}

  /**
   * Ends the pass: adds deferred sums, for example weights summed per code over all pages.
   *
   * @param accumulator (rows, valueDim), added to
   */
  default void endPass(int rows, float[] accumulator) {}
}
