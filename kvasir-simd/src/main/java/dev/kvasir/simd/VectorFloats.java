package dev.kvasir.simd;

import dev.kvasir.kernel.FloatKernels;

/** Products and sums of floats on the Vector API. */
final class VectorFloats implements FloatKernels {
  @Override
  public void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows,
      float[] b,
      int bAt,
      int bStride,
      int bRows,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    FloatProducts.products(a, aAt, aStride, aRows, b, bAt, bStride, bRows, depth, c, cAt, cStride);
  }

  @Override
  public void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      float[] v,
      int vAt,
      int vStride,
      int tokens,
      int length,
      float[] out,
      int outAt,
      int outStride) {
    FloatSums.weightedSums(
        weights,
        weightsAt,
        weightsStride,
        rows,
        v,
        vAt,
        vStride,
        tokens,
        length,
        out,
        outAt,
        outStride);
  }
}
