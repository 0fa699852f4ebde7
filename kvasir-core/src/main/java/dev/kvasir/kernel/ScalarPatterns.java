package dev.kvasir.kernel;

/** Reference pattern kernels in plain Java, which define results to the last bit. */
final class ScalarPatterns implements PatternKernels {
  @Override
  public void gatheredProducts(
      float[] a, float[] b, int[] rowIndices, int indicesAt, int pairs, RowBlock c) {
    for (int i = 0; i < c.rows(); i++) {
      for (int j = 0; j < c.width(); j++) {
        int row = rowIndices[indicesAt + j] * 2 * pairs;
        c.values()[c.at(i) + j] += PartialSums.dotOfPairs(a, i * 2 * pairs, b, row, pairs);
      }
    }
  }

  @Override
  public void rotate(
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
  public void residualRanges(float[] x, int at, RowBlock b, float[] lowest, float[] highest) {
    b.requireContiguous();
    for (int j = 0; j < b.rows(); j++) {
      float low = Float.POSITIVE_INFINITY;
      float high = Float.NEGATIVE_INFINITY;
      for (int i = 0; i < b.width(); i++) {
        float residual = x[at + i] - b.values()[b.at(j) + i];
        low = residual < low ? residual : low;
        high = residual > high ? residual : high;
      }
      lowest[j] = low;
      highest[j] = high;
    }
  }
}
