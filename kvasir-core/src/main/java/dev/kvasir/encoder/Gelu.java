package dev.kvasir.encoder;

/** {@code x (1 + erf(x / sqrt(2))) / 2}, the exact form that BERT uses. */
final class Gelu {
  // Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; the error is below 1.5e-7.
  private static final double P = 0.3275911;
  private static final double A1 = 0.254829592;
  private static final double A2 = -0.284496736;
  private static final double A3 = 1.421413741;
  private static final double A4 = -1.453152027;
  private static final double A5 = 1.061405429;

  private static final double INVERSE_ROOT_2 = 1 / Math.sqrt(2);

  private Gelu() {}

  static void apply(float[] x, int at, int count) {
    for (int i = at; i < at + count; i++) {
      x[i] = (float) (0.5 * x[i] * (1 + erf(x[i] * INVERSE_ROOT_2)));
    }
  }

  static double erf(double x) {
    double t = 1 / (1 + P * Math.abs(x));
    double tail = ((((A5 * t + A4) * t + A3) * t + A2) * t + A1) * t * Math.exp(-x * x);
    return x < 0 ? tail - 1 : 1 - tail;
  }
}
