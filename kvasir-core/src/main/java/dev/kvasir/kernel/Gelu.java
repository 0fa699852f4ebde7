package dev.kvasir.kernel;

/**
 * The tanh approximation of GELU, the same in every implementation of {@link Kernels}: {@code x (1
 * + tanh(u)) / 2 = x / (1 + exp(-2 u))} with {@code u = sqrt(2 / pi) (x + 0.044715 x^3)}.
 */
public final class Gelu {
  /** {@code -2 u} is {@code x * (CUBIC * x^2 + LINEAR)}. */
  public static final float LINEAR = -1.5957691216f;

  public static final float CUBIC = -0.07135481627f;

  private Gelu() {}

  public static float of(float x) {
    return x / (Exponential.of(x * Math.fma(x * x, CUBIC, LINEAR)) + 1);
  }
}
