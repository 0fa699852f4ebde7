package dev.kvasir.kernel;

/** Reference row operations in plain Java, which define results to the last bit. */
final class ScalarRows implements RowKernels {
  @Override
  public float maximum(float[] x, int at, int count) {
    float largest = Float.NEGATIVE_INFINITY;
    for (int i = at; i < at + count; i++) {
      largest = Math.max(largest, x[i]);
    }
    return largest;
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    for (int i = at; i < at + count; i++) {
      x[i] = Exponential.of(x[i] - shift);
    }
    return PartialSums.sum(x, at, count);
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    float squares = PartialSums.dot(x, at, x, at, count);
    float inverse = (float) (1 / Math.sqrt(squares / count + epsilon));
    for (int i = 0; i < count; i++) {
      out[outAt + i] = x[at + i] * inverse * weight[i];
    }
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    for (int i = at; i < at + count; i++) {
      gate[i] = gate[i] / (Exponential.of(-gate[i]) + 1) * up[i];
    }
  }

  @Override
  public void gatedGelu(float[] gate, float[] up, int at, int count) {
    for (int i = at; i < at + count; i++) {
      gate[i] = Gelu.of(gate[i]) * up[i];
    }
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    for (int i = 0; i < count; i++) {
      x[at + i] += y[yAt + i];
    }
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    for (int i = 0; i < count; i++) {
      out[outAt + i] = x[at + i] * y[yAt + i];
    }
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    for (int i = at; i < at + count; i++) {
      x[i] *= factor;
    }
  }
}
