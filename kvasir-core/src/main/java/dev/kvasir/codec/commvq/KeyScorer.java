package dev.kvasir.codec.commvq;

/** Scores of a page of codes. */
interface KeyScorer {
  /** A walk begins: queries are other ones. */
  default void beginPass() {}

  /**
   * @param queries (rows, keyDim)
   * @param scores (rows, {@link Page#NOMINAL_TOKENS}), set
   */
  void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores);
}
