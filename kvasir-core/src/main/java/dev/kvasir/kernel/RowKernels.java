package dev.kvasir.kernel;

/** What is done to a row of floats, value by value or as a whole. */
public interface RowKernels {
  float maximum(float[] x, int at, int count);

  /** {@code x = exp(x - shift)}; answers their sum. */
  float exponentiate(float[] x, int at, int count, float shift);

  /** {@code out = x / rms(x) * weight}. */
  void rmsNorm(float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count);

  /** {@code gate = silu(gate) * up}. */
  void gatedSilu(float[] gate, float[] up, int at, int count);

  /** {@code gate = gelu(gate) * up}, as {@link Gelu} has it. */
  void gatedGelu(float[] gate, float[] up, int at, int count);

  /** {@code x += y}. */
  void add(float[] x, int at, float[] y, int yAt, int count);

  /** {@code out = x * y}, value by value. */
  void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count);

  /** {@code x *= factor}. */
  void scale(float[] x, int at, int count, float factor);

  /**
   * {@code x = cap * tanh(x / cap)}: what is small stays nearly as it is, nothing leaves the
   * bounds.
   */
  static void softCap(float[] x, int at, int count, float cap) {
    for (int i = at; i < at + count; i++) {
      x[i] = (float) (cap * Math.tanh(x[i] / cap));
    }
  }
}
