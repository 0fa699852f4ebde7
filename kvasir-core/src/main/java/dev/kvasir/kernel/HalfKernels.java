package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/** Rows of 16-bit floats, and weights of 16 and 32 bits: to floats, or computed on as they are. */
public interface HalfKernels {
  /** Rows {@code firstRow} to {@code firstRow + count} of a matrix of any precision as floats. */
  void expand(DenseMatrix matrix, int firstRow, int count, float[] out, int outAt);

  /** Half-precision values to floats. */
  void expand(MemorySegment source, long offset, float[] out, int outAt, int count);

  /**
   * {@code c[i][j] = a[i] . row (firstRow + j)}, for rows of any precision; the bits are those of
   * {@link FloatKernels#products} with the rows as floats.
   *
   * @param a // (aRows, columns)
   * @param room for rows that are made floats first
   * @param c // (aRows, bRows), rows {@code cStride} apart
   */
  void products(
      float[] a,
      int aRows,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride,
      TileRoom room);

  /**
   * {@code out[i] += sum over t of weights[i][t] * row (firstRow + t)}, for a few rows of weights.
   *
   * @param v F16 or BF16
   */
  void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows, // (rows, tokens)
      DenseMatrix v,
      int firstRow,
      int tokens,
      float[] out,
      int outAt,
      int outStride); // (rows, columns)
}
