package dev.kvasir.codec.commvq;

/** Scores the keys of a page. */
interface KeyScorer {
  /** Starts a pass with new queries. */
  default void beginPass() {}

  /**
   * Computes the scores of all tokens.
   *
   * @param queries (rows, keyDim)
   * @param scores (rows, Page.TOKENS), set
   */
  void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores);
}
