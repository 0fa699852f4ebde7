package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Vectors of tokens whose channels have codes of different widths. A vector is made of a row of
 * codes on top of a row of a table: {@code (c * slope + lift) * scale + base} with {@code base =
 * nibble * step + low}, each product and the sum after it in one operation.
 */
public interface RowCodeKernels {
  /** Rows that are multiplied or weighed together at the most. */
  int MAX_ROWS = 8;

  /**
   * Makes vectors.
   *
   * @param codes rows one after another
   * @param out (rows, width) by token, set
   */
  void decode(RowCodeBlock codes, float[] out);

  /**
   * Products with vectors that turn with their tokens: {@code c[i][token] = a[i] . vector}, summed
   * as {@link FloatKernels#gemm} sums.
   *
   * @param codes rows one after another
   * @param cosines (rows, width / 2) by token, as the sines
   * @param a (aRows, width), {@link #MOST_ROWS} at the most
   * @param room {@link #room} floats
   * @param c (aRows, rows) by token, set
   */
  void products(
      RowCodeBlock codes,
      float[] cosines,
      float[] sines,
      float[] a,
      int aRows,
      float[] scratch,
      float[] c);

  /**
   * Weighted sums of vectors: {@code out[i] += w[i][token] * vector}, with weights rounded to
   * integers as {@link InterleavedSums} says.
   *
   * @param codes rows in {@link InterleavedBytes}, band after band
   * @param w (wRows, rows) by token, not below zero, {@link #MOST_ROWS} at the most
   * @param room {@link #room} floats
   * @param out (wRows, width), added to
   */
  void weightedSums(RowCodeBlock codes, float[] w, int wRows, float[] scratch, float[] out);

  /** Floats that {@link #gemm} and {@link #weightedSums} need: rows, weights, and a line. */
  static int scratchFloats(int rows, int width) {
    return rows * (width + MAX_ROWS) + 16;
  }

  /**
   * Rows of a table of halves, one for each token.
   *
   * @param source (rows, stride) from {@code offset} bytes on
   * @param picked by token
   * @param out (count, width), set
   */
  void gather(
      MemorySegment source,
      long offset,
      int stride,
      int[] rowIndices,
      int count,
      int width,
      float[] out);

  /**
   * Turns rows in place, the i-th one by the i-th row of angles.
   *
   * @param rows (count, x and y, pairs)
   * @param cosines (count, pairs), as the sines
   */
  void rotateEach(float[] rows, int count, int pairs, float[] cosines, float[] sines);
}
