package dev.kvasir.kernel;

/** Products and sums of floats in plain Java: the definition, to the last bit. */
final class ScalarFloats implements FloatKernels {
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
    for (int i = 0; i < aRows; i++) {
      for (int j = 0; j < bRows; j++) {
        c[cAt + i * cStride + j] =
            PartialSums.dot(a, aAt + i * aStride, b, bAt + j * bStride, depth);
      }
    }
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
    for (int i = 0; i < rows; i++) {
      for (int t = 0; t < tokens; t++) {
        float weight = weights[weightsAt + i * weightsStride + t];
        for (int d = 0; d < length; d++) {
          int at = outAt + i * outStride + d;
          out[at] = Math.fma(weight, v[vAt + t * vStride + d], out[at]);
        }
      }
    }
  }
}
