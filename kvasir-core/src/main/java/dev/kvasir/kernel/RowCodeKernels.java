package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Kernels for token vectors whose channels have codes of different widths. A vector is a row of
 * codes added to a row of a table: {@code (c * step + minimum) * scale + base} with {@code base =
 * nibble * step + low}. Each product and the following addition are one fused operation.
 */
public interface RowCodeKernels {
  /** Maximum number of rows multiplied or summed in one call. */
  int MAX_ROWS = 8;

  /**
   * Dequantizes vectors.
   *
   * @param codes rows one after another
   * @param out (rows, width) by token, set
   */
  void decode(RowCodeBlock codes, float[] out);

  /**
   * Products with vectors that are rotated to their tokens' positions: {@code c[i][token] = a[i] .
   * vector}, summed in the order of {@link FloatKernels#products}.
   *
   * @param codes rows one after another
   * @param cosines (rows, width / 2) by token, as the sines
   * @param a (aRows, width), at most {@link #MAX_ROWS}
   * @param scratch {@link #scratchFloats} floats
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
   * integers as in {@link InterleavedSums}.
   *
   * @param codes rows in {@link InterleavedBytes}, band after band
   * @param w (wRows, rows) by token, non-negative, at most {@link #MAX_ROWS}
   * @param scratch {@link #scratchFloats} floats
   * @param out (wRows, width), added to
   */
  void weightedSums(RowCodeBlock codes, float[] w, int wRows, float[] scratch, float[] out);

  /**
   * Returns the scratch floats that {@link #products} and {@link #weightedSums} need: rows, weights
   * and a cache line.
   */
  static int scratchFloats(int rows, int width) {
    return rows * (width + MAX_ROWS) + 16;
  }

  /**
   * Sets the order of {@link CodeBands#MAX_ROWS} rows in three classes, and the table row of each.
   *
   * <pre>
   * u64, u64  bit t of 128: token t is in the second or third class
   * u64       bit i of 64: the i-th of those is in the third
   * </pre>
   *
   * @param classes the bits, from {@code at} on
   * @param ids of each token, 32-bit integers; not read if {@code rowOfId} is empty
   * @param rowOfId the table row of each id; ids beyond have that of id 0, and all have row 0 if it
   *     is empty
   * @param tokens the token of each row: class after class, each in token order // (rows), set
   * @param tableRows (rows), set
   */
  void orderRows(
      MemorySegment classes,
      long at,
      MemorySegment ids,
      int[] rowOfId,
      byte[] tokens,
      int[] tableRows);

  /**
   * Gathers rows of a table of halves, one per token.
   *
   * @param source (rows, stride) from {@code offset} bytes on
   * @param rowIndices by token
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
   * Rotates rows in place, row i by row i of the angles.
   *
   * @param rows (count, x and y, pairs)
   * @param cosines (count, pairs), as the sines
   */
  void rotateEach(float[] rows, int count, int pairs, float[] cosines, float[] sines);
}
