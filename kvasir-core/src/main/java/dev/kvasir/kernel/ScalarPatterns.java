package dev.kvasir.kernel;

/** Rows that are picked, in plain Java: the definition, to the last bit. */
final class ScalarPatterns implements PatternKernels {
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
    for (int i = 0; i < aRows; i++) {
      for (int j = 0; j < count; j++) {
        int row = picked[pickedAt + j] * 2 * pairs;
        c[cAt + i * cStride + j] += PartialSums.dotOfPairs(a, i * 2 * pairs, b, row, pairs);
      }
    }
  }

  @Override
  public void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    for (int row = at; row < at + count * 2 * pairs; row += 2 * pairs) {
      for (int i = 0; i < pairs; i++) {
        float cos = cosines[anglesAt + i];
        float sin = sines[anglesAt + i];
        float x = vectors[row + i];
        float y = vectors[row + pairs + i];
        vectors[row + i] = Math.fma(-y, sin, x * cos);
        vectors[row + pairs + i] = Math.fma(x, sin, y * cos);
      }
    }
  }

  @Override
  public void spans(
      float[] x, int at, float[] b, int bAt, int count, int depth, float[] least, float[] most) {
    for (int j = 0; j < count; j++) {
      float low = Float.POSITIVE_INFINITY;
      float high = Float.NEGATIVE_INFINITY;
      for (int i = 0; i < depth; i++) {
        float left = x[at + i] - b[bAt + j * depth + i];
        low = left < low ? left : low;
        high = left > high ? left : high;
      }
      least[j] = low;
      most[j] = high;
    }
  }
}
