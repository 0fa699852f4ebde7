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
   * {@link FloatKernels#gemm} with the rows as floats.
   *
   * @param a one row after another // (c.rows, columns)
   * @param c // (c.rows, rows of b that are taken), set
   * @param room for rows that are made floats first
   */
  void products(float[] a, DenseMatrix b, int firstRow, RowBlock c, TileWorkspace workspace);

  /**
   * {@code out[i] += sum over t of weights[i][t] * row (firstRow + t)}, for a few rows of weights.
   *
   * @param weights // (rows, tokens)
   * @param v F16 or BF16
   * @param out // (rows, columns), added to
   */
  void weightedSums(RowBlock weights, DenseMatrix v, int firstRow, RowBlock out);
}
