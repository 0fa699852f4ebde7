package dev.kvasir.kernel;

/**
 * e^x as a polynomial, the same in every implementation of {@link Kernels}, so that results do not
 * depend on the kernels.
 *
 * <p>x = n ln 2 + r with |r| at most half of ln 2. The polynomial gives e^r to about 2 units in the
 * last place, and n goes into the exponent bits. Coefficients: Cephes, expf.
 */
public final class Exponential {
  public static final float LOG2_E = 1.4426950409f;

  /** ln 2 in two floats, the first with few bits so that {@code n * LN2_HIGH} is exact. */
  public static final float LN2_HIGH = 0.693359375f;

  public static final float LN2_LOW = -2.12194440e-4f;

  /** 1.5 * 2^23: adding it to a float leaves the nearest integer in the low bits. */
  public static final float ROUNDER = 12582912f;

  /** Arguments are clamped to this range, within which the result is a normal float. */
  public static final float MIN = -87f;

  public static final float MAX = 88f;

  public static final float C6 = 1.9875691500e-4f;
  public static final float C5 = 1.3981999507e-3f;
  public static final float C4 = 8.3334519073e-3f;
  public static final float C3 = 4.1665795894e-2f;
  public static final float C2 = 1.6666665459e-1f;
  public static final float C1 = 5.0000001201e-1f;

  private Exponential() {}

  public static float of(float x) {
    float v = Math.min(Math.max(x, MIN), MAX);
    float lifted = Math.fma(v, LOG2_E, ROUNDER);
    float n = lifted - ROUNDER;
    float r = Math.fma(n, -LN2_LOW, Math.fma(n, -LN2_HIGH, v));
    float p = Math.fma(C6, r, C5);
    p = Math.fma(p, r, C4);
    p = Math.fma(p, r, C3);
    p = Math.fma(p, r, C2);
    p = Math.fma(p, r, C1);
    p = Math.fma(p, r * r, r) + 1;
    int bits = Float.floatToRawIntBits(p) + (Float.floatToRawIntBits(lifted) << 23);
    return Float.intBitsToFloat(bits);
  }
}
