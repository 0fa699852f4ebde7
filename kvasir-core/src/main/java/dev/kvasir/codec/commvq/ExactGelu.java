package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Exponential;

/**
 * GELU with the normal distribution's own integral, {@code x P(x)}, which the published encoders
 * are trained with. The tanh approximation differs by up to 5e-4, enough to change codes.
 *
 * <p>The integral is Abramowitz and Stegun 7.1.26, whose error is at most 7.5e-8 here. All
 * arithmetic is in floats and fused multiply-adds, the same on every processor.
 */
public final class ExactGelu {
  /** 1 / sqrt(2 pi). */
  private static final float DENSITY = 0.3989422804f;

  /** Their p is 0.3275911; this one is for arguments divided by sqrt 2. */
  private static final float P = 0.2316418882f;

  private static final float A1 = 0.254829592f;
  private static final float A2 = -0.284496736f;
  private static final float A3 = 1.421413741f;
  private static final float A4 = -1.453152027f;
  private static final float A5 = 1.061405429f;

  private ExactGelu() {}

  /** Returns {@code x P(x)}. */
  public static float of(float x) {
    return x * integral(x, Exponential.of(x * x * -0.5f));
  }

  /** Returns the derivative, {@code P(x) + x p(x)}. */
  public static float derivative(float x) {
    float e = Exponential.of(x * x * -0.5f);
    return Math.fma(x * DENSITY, e, integral(x, e));
  }

  /**
   * Returns the normal distribution's integral up to x.
   *
   * @param e {@code exp(-x^2 / 2)}
   */
  private static float integral(float x, float e) {
    float t = 1 / Math.fma(P, Math.abs(x), 1f);
    float p = Math.fma(A5, t, A4);
    p = Math.fma(p, t, A3);
    p = Math.fma(p, t, A2);
    p = Math.fma(p, t, A1);
    float tail = p * t * e * 0.5f;
    return x < 0 ? tail : 1 - tail;
  }
}
