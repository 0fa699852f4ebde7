package dev.kvasir.kernel;

/** Reference products and sums of floats in plain Java, which define results to the last bit. */
final class ScalarFloats implements FloatKernels {
  @Override
  public void products(RowBlock a, RowBlock b, RowBlock c) {
    b.requireShape(b.rows(), a.width());
    c.requireShape(a.rows(), b.rows());
    int depth = a.width();
    for (int i = 0; i < a.rows(); i++) {
      for (int j = 0; j < b.rows(); j++) {
        c.values()[c.at(i) + j] = PartialSums.dot(a.values(), a.at(i), b.values(), b.at(j), depth);
      }
    }
  }

  @Override
  public void weightedSums(RowBlock weights, RowBlock v, RowBlock out) {
    v.requireShape(weights.width(), v.width());
    out.requireShape(weights.rows(), v.width());
    for (int i = 0; i < weights.rows(); i++) {
      for (int t = 0; t < v.rows(); t++) {
        float weight = weights.values()[weights.at(i) + t];
        add(weight, v.values(), v.at(t), out.values(), out.at(i), v.width());
      }
    }
  }

  private static void add(float weight, float[] v, int from, float[] out, int to, int length) {
    for (int d = 0; d < length; d++) {
      out[to + d] = Math.fma(weight, v[from + d], out[to + d]);
    }
  }
}
