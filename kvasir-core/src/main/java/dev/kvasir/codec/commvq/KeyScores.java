package dev.kvasir.codec.commvq;

/** Scores of a page of codes. */
interface KeyScores {
  /** A walk begins: queries are other ones. */
  default void begin() {}

  /**
   * @param queries (rows, keyDim)
   * @param scores (rows, {@link Page#TOKENS}), set
   */
  void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores);
}
