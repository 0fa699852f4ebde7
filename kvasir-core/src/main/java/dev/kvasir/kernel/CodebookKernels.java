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
  void rotatedSums(RotaryCodes codes, int from, int end, short[] scratch, float[] out);

  /** Tokens whose vectors {@link #rotatedScores} makes at a time, so that they stay in a cache. */
  int SCORING_TOKENS = 16;

  /** Numbers of room for {@link #rotatedScores}. */
  static int scoringScratch(int width) {
    return SCORING_TOKENS * width;
  }

  /**
   * Products of queries with what {@link #rotatedSums} makes of all tokens of a page, which need
   * not be kept.
   *
   * @param queries // (count, x and y, pairs)
   * @param sums room, {@link #scoringScratch}, as keys
   * @param scores // (count, page tokens), set
   */
  default void rotatedScores(
      RotaryCodes codes, float[] queries, int count, short[] sums, float[] keys, float[] scores) {
    int width = codes.codebooks().width();
    int tokens = PageSize.TOKENS;
    for (int from = 0; from < tokens; from += SCORING_TOKENS) {
      int end = from + SCORING_TOKENS;
      rotatedSums(codes, from, end, sums, keys);
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
   * @param rows // (sets, {@link Int8Codebooks#CODEWORDS}, width) from {@code at} on
   * @param indices // (sets, page tokens)
   * @param sums // (tokens, width), set
   */
  void gatheredSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums);

  /** {@code out[i] = a[i] . b[i]}. // (count, width) */
  void rowDots(float[] a, float[] b, int count, int width, float[] out);

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
  default void tokenWeights(
      float[] probabilities,
      int rows,
      float[] rescales,
      float[] scales,
      int stride,
      float[] totals,
      float[] weights) {
    TokenWeights.compute(probabilities, rows, rescales, scales, stride, totals, weights);
  }

  /**
   * Adds the weights of tokens to the bins that they have picked, one of each set.
   *
   * @param indices // (sets, page tokens)
   * @param weights // (tokens, lanes)
   * @param lanes a multiple of 4
   * @param bins // (sets, {@link Int8Codebooks#CODEWORDS}, lanes), added to
   */
  void scatterAdd(byte[] indices, int sets, int tokens, float[] weights, int stride, float[] bins);

  /**
   * {@code out[a] = least over b of squares[a][b] - 2 products[b]}, of those that are numbers;
   * infinity where none is.
   *
   * @param squares // ({@link Int8Codebooks#CODEWORDS}, {@link Int8Codebooks#CODEWORDS}) from
   *     {@code at} on
   * @param products // ({@link Int8Codebooks#CODEWORDS}) from {@code productsAt} on
   * @param out // ({@link Int8Codebooks#CODEWORDS}), set
   */
  void minDistances(float[] squares, int at, float[] products, int productsAt, float[] out);
}
