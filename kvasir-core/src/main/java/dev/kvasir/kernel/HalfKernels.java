package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Kernels for rows of 16-bit floats and weights of 16 or 32 bits: conversion to floats, and
 * products without conversion.
 */
public interface HalfKernels {
  /**
   * Writes rows {@code firstRow} to {@code firstRow + count} of a matrix of any precision as
   * floats.
   */
  void expand(DenseMatrix matrix, int firstRow, int count, float[] out, int outAt);

  /** Converts half-precision values to floats. */
  void expand(MemorySegment source, long offset, float[] out, int outAt, int count);

  /**
   * {@code c[i][j] = a[i] . row (firstRow + j)}, for rows of any precision. The bits equal those of
   * {@link FloatKernels#products} with the rows as floats.
   *
   * @param a one row after another // (c.rows, columns)
   * @param c // (c.rows, rows of b), set
   * @param workspace for rows that are converted to floats first
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
