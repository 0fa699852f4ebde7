package dev.kvasir.simd;

import dev.kvasir.kernel.PatternKernels;

/** Rows that are picked, and vectors that turn, on the Vector API. */
final class VectorPatterns implements PatternKernels {
  @Override
  public void pickedProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int pickedAt,
      int count,
      int pairs,
      float[] c,
      int cAt,
      int cStride) {
    PickedProducts.products(a, aRows, b, picked, pickedAt, count, pairs, c, cAt, cStride);
  }

  @Override
  public void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    FloatRows.turn(vectors, at, count, pairs, cosines, sines, anglesAt);
  }

  @Override
  public void spans(
      float[] x, int at, float[] b, int bAt, int count, int depth, float[] least, float[] most) {
    FloatRows.spans(x, at, b, bAt, count, depth, least, most);
  }
}
