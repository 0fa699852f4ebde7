package dev.kvasir.kernel;

import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;

/** Sums of the rows that codes of a codebook pick. */
public interface CodebookKernels {
  /**
   * Takes the codes of a page apart; {@link dev.kvasir.page.StageCodes} says where they lie.
   *
   * @param indices // (stages, 2, page tokens), set
   */
  void unpackStages(MemorySegment source, long offset, int stages, byte[] indices);

  /**
   * Adds up the rows that the tokens from {@code from} to {@code end} have picked, one of each set,
   * makes vectors of the sums and turns the i-th token's by the i-th row of angles.
   *
   * @param room as long as {@code out}
   * @param out // (end - from, x and y, pairs), set
   */
  void turnedSums(RotaryCodes codes, int from, int end, short[] room, float[] out);

  /** Tokens whose vectors {@link #turnedScores} makes at a time, so that they stay in a cache. */
  int SCORED_TOGETHER = 16;

  /** Numbers of room for {@link #turnedScores}. */
  static int scoringRoom(int width) {
    return SCORED_TOGETHER * width;
  }

  /**
   * Products of queries with what {@link #turnedSums} makes of all tokens of a page, which need not
   * be kept.
   *
   * @param queries // (count, x and y, pairs)
   * @param sums room, {@link #scoringRoom}, as keys
   * @param scores // (count, page tokens), set
   */
  default void turnedScores(
      RotaryCodes codes, float[] queries, int count, short[] sums, float[] keys, float[] scores) {
    int width = codes.rows().width();
    int tokens = PageSize.TOKENS;
    for (int from = 0; from < tokens; from += SCORED_TOGETHER) {
      int end = from + SCORED_TOGETHER;
      turnedSums(codes, from, end, sums, keys);
      for (int query = 0; query < count; query++) {
        for (int token = from; token < end; token++) {
          scores[query * tokens + token] =
              PartialSums.dot(queries, query * width, keys, (token - from) * width, width);
        }
      }
    }
  }

  /**
   * Adds up the rows of floats that tokens have picked, one of each set.
   *
   * @param rows // (sets, {@link FixedRows#ROWS}, width) from {@code at} on
   * @param indices // (sets, page tokens)
   * @param sums // (tokens, width), set
   */
  void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums);

  /** {@code out[i] = a[i] . b[i]}. // (count, width) */
  void rowProducts(float[] a, float[] b, int count, int width, float[] out);

  /**
   * Lays weights beside each other as {@link #collect} takes them: {@code probability * back *
   * scale} for each token and row. The sums of {@code probability * back}, in the order of tokens,
   * are added to the totals.
   *
   * @param probabilities // (rows, page tokens)
   * @param back // (rows)
   * @param scales // (page tokens)
   * @param totals // (rows), added to
   * @param weights // (page tokens, lanes), of which the first {@code rows} columns are set
   */
  default void weighTokens(
      float[] probabilities,
      int rows,
      float[] back,
      float[] scales,
      int lanes,
      float[] totals,
      float[] weights) {
    TokenWeights.weigh(probabilities, rows, back, scales, lanes, totals, weights);
  }

  /**
   * Adds the weights of tokens to the bins that they have picked, one of each set.
   *
   * @param indices // (sets, page tokens)
   * @param weights // (tokens, lanes)
   * @param lanes a multiple of 4
   * @param bins // (sets, {@link FixedRows#ROWS}, lanes), added to
   */
  void collect(byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins);

  /**
   * {@code out[a] = least over b of squares[a][b] - 2 products[b]}, of those that are numbers;
   * infinity where none is.
   *
   * @param squares // ({@link FixedRows#ROWS}, {@link FixedRows#ROWS}) from {@code at} on
   * @param products // ({@link FixedRows#ROWS}) from {@code productsAt} on
   * @param out // ({@link FixedRows#ROWS}), set
   */
  void leastDistances(float[] squares, int at, float[] products, int productsAt, float[] out);
}
