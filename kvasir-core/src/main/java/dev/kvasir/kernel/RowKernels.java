package dev.kvasir.kernel;

/** Element-wise operations and reductions on a row of floats. */
public interface RowKernels {
  float maximum(float[] x, int at, int count);

  /** Computes {@code x = exp(x - shift)} and returns the sum. */
  float exponentiate(float[] x, int at, int count, float shift);

  /** {@code out = x / rms(x) * weight}. */
  void rmsNorm(float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count);

  /** {@code gate = silu(gate) * up}. */
  void gatedSilu(float[] gate, float[] up, int at, int count);

  /** {@code gate = gelu(gate) * up}, with {@link Gelu}. */
  void gatedGelu(float[] gate, float[] up, int at, int count);

  /** {@code x += y}. */
  void add(float[] x, int at, float[] y, int yAt, int count);

  /** {@code out = x * y}, element-wise. */
  void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count);

  /** {@code x *= factor}. */
  void scale(float[] x, int at, int count, float factor);

  /**
   * Soft cap: {@code x = cap * tanh(x / cap)}. Small values hardly change, and all stay within the
   * cap.
   */
  static void softCap(float[] x, int at, int count, float cap) {
    for (int i = at; i < at + count; i++) {
      x[i] = (float) (cap * Math.tanh(x[i] / cap));
    }
  }
}
