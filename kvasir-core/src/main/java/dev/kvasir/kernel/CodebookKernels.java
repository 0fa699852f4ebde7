package dev.kvasir.kernel;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;

/** Sums of codebook vectors selected by codes. */
public interface CodebookKernels {
  /**
   * Unpacks the codes of a page, stored as {@link dev.kvasir.page.StageCodes}.
   *
   * @param indices // (stages, 2, page tokens), set
   */
  void unpackStages(MemorySegment source, long offset, int stages, byte[] indices);

  /**
   * Sums the codewords of tokens {@code from} to {@code end}, one of each set, dequantizes the sums
   * and rotates the vector of token i by row i of the angles.
   *
   * @param scratch as long as {@code out}
   * @param out // (end - from, x and y, pairs), set
   */
  void rotatedSums(RotaryCodes codes, int from, int end, short[] scratch, float[] out);

  /** Tokens per batch in {@link #rotatedScores}, so that their vectors stay in cache. */
  int SCORING_TOKENS = 16;

  /** Returns the length of the scratch arrays of {@link #rotatedScores}. */
  static int scoringScratch(int width) {
    return SCORING_TOKENS * width;
  }

  /**
   * Products of queries with the vectors that {@link #rotatedSums} computes for all tokens of a
   * page, without storing the vectors.
   *
   * @param queries // (count, x and y, pairs)
   * @param sums scratch memory of {@link #scoringScratch}, as {@code keys}
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
   * Sums the float rows selected by each token, one of each set.
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
   * Computes the weights that {@link #scatterAdd} takes: {@code probability * inverseScale * scale}
   * for each token and row. Adds the sums of {@code probability * inverseScale}, in the order of
   * tokens, to the totals.
   *
   * @param probabilities // (rows, page tokens)
   * @param inverseScales // (rows)
   * @param scales // (page tokens)
   * @param totals // (rows), added to
   * @param weights // (page tokens, rows), set
   */
  default void tokenWeights(
      float[] probabilities,
      float[] inverseScales,
      float[] scales,
      float[] totals,
      RowBlock weights) {
    TokenWeights.compute(probabilities, inverseScales, scales, totals, weights);
  }

  /**
   * Adds the weights of tokens to the bins of their codewords, one of each set.
   *
   * @param indices // (sets, page tokens)
   * @param weights // (tokens, stride)
   * @param stride a multiple of 4
   * @param bins floats, fastest if aligned to a cache line // (sets, {@link
   *     Int8Codebooks#CODEWORDS}, stride), added to
   */
  void scatterAdd(
      byte[] indices, int sets, int tokens, float[] weights, int stride, MemorySegment bins);

  /**
   * Adds the weights of tokens to the bins of their set bits. The tokens of a nibble are added up
   * first, in their order, and then the sums of nibbles, in theirs.
   *
   * @param bits as {@link dev.kvasir.page.BitCodes} packs them // (sets, page tokens / 8)
   * @param weights // (page tokens, stride)
   * @param stride a multiple of 4
   * @param scratch {@link #setBitScratch} floats, aligned to a cache line for speed
   * @param bins floats // (sets, stride), added to
   */
  default void addToSetBits(
      byte[] bits,
      int sets,
      float[] weights,
      int stride,
      MemorySegment scratch,
      MemorySegment bins) {
    SetBitSums.add(bits, sets, weights, stride, scratch, bins);
  }

  /** Returns the floats of scratch memory of {@link #addToSetBits}. */
  static int setBitScratch(int stride) {
    return SetBitSums.SUBSET_SUMS * stride;
  }

  /**
   * Copies columns of bins, each times a factor: {@code out[row][i] = bins[i][column + row] *
   * factors[row]}.
   *
   * @param bins floats // (count, stride)
   * @param factors // (rows)
   * @param out // (rows, count), set
   */
  default void scaledColumns(
      MemorySegment bins,
      int count,
      int stride,
      int column,
      int rows,
      float[] factors,
      float[] out) {
    for (int i = 0; i < count; i++) {
      long at = (long) i * stride + column;
      for (int row = 0; row < rows; row++) {
        out[row * count + i] = bins.getAtIndex(JAVA_FLOAT, at + row) * factors[row];
      }
    }
  }

  /**
   * {@code out[a] = min over b of squares[a][b] - 2 products[b]}, ignoring NaN; infinity if all are
   * NaN.
   *
   * @param squares // ({@link Int8Codebooks#CODEWORDS}, {@link Int8Codebooks#CODEWORDS}) from
   *     {@code at} on
   * @param products // ({@link Int8Codebooks#CODEWORDS}) from {@code productsAt} on
   * @param out // ({@link Int8Codebooks#CODEWORDS}), set
   */
  void minDistances(float[] squares, int at, float[] products, int productsAt, float[] out);
}
