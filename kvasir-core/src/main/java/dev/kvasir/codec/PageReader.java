package dev.kvasir.codec;

/**
 * Attends on pages of one kind, for a few query rows that share a KV head. An instance belongs to
 * one worker and may keep scratch memory. Which of the tokens a row sees is not its business:
 * weights of unseen ones are zero.
 */
public interface PageReader {
  /** Query rows at the most that attend together. */
  int MAX_ROWS = 8;

  /**
   * Query rows of a prompt at the most that meet a block together, of {@link #MOST_ROWS} or more
   * where what is stored takes so many: enough that halves are made floats for next to nothing, and
   * few enough that their weights stay in the second cache.
   */
  int PREFILL_ROWS = 64;

  /** A walk over the pages of a head begins: queries are other ones, and nothing is mixed yet. */
  default void beginPass() {}

  /**
   * Tells the last page of the walk that has begun, for readers that keep what pages share: what
   * grows from page to page can be made ready at once.
   *
   * @param page of the kind that this reader is for
   */
  default void prefetch(Page page, int kvHead) {}

  /**
   * Scores of all tokens of a page.
   *
   * @param page of the kind that this reader is for
   * @param queries (rows, keyDim)
   * @param scores (rows, {@link Page#NOMINAL_TOKENS}), set
   */
  void score(Page page, int kvHead, float[] queries, int rows, float[] scores);

  /**
   * Adds the weighted values of all tokens of a page, the one that was scored last.
   *
   * @param weights (rows, {@link Page#NOMINAL_TOKENS}), none below zero
   * @param mixed (rows, valueDim), added to
   */
  void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator);

  /**
   * The running maximum of a row has grown: what a reader holds back of its weights shrinks. Called
   * between {@link #score} and {@link #mix}, of any page of the walk.
   */
  default void rescale(int row, float factor) {}

  /**
   * The walk is over: a reader adds what it held back, say weights that were summed by code over
   * all pages, because the vectors of the codes are the same for each.
   *
   * @param mixed (rows, valueDim), added to
   */
  default void endPass(int rows, float[] accumulator) {}
}
