package dev.kvasir.kernel;

/** Products and sums of rows of floats. */
public interface FloatKernels {
  /**
   * {@code c[i][j] = a[i] . b[j]}: both operands row by row, so that a dot product reads memory in
   * order.
   */
  void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows, // (aRows, depth)
      float[] b,
      int bAt,
      int bStride,
      int bRows, // (bRows, depth)
      int depth,
      float[] c,
      int cAt,
      int cStride); // (aRows, bRows)

  /** {@code out[i] += sum over t of weights[i][t] * v[t]}. */
  void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows, // (rows, tokens)
      float[] v,
      int vAt,
      int vStride,
      int tokens, // (tokens, length)
      int length,
      float[] out,
      int outAt,
      int outStride); // (rows, length)
}
