package dev.kvasir.attention;

import dev.kvasir.codec.commvq.CodebookPage;

/** Scores of a page of codes. */
interface CodebookScores {
  /** A walk begins: queries are other ones. */
  default void begin() {}

  /**
   * @param queries (rows, headDim)
   * @param scores (rows, {@link PageWalk#PAGE}), set
   */
  void score(CodebookPage page, int kvHead, float[] queries, int rows, float[] scores);
}
