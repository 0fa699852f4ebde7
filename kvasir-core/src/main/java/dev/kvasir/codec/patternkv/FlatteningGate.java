package dev.kvasir.codec.patternkv;

/**
 * When a pattern may be taken from a value: only if the error of its codes is smaller with the
 * pattern than without it, at a confidence of {@code 1 - alpha}. With {@code rho} the range of the
 * residual over the range of the value, and rounding errors that are uniform over a step,
 *
 * <pre>
 * 1 - rho^2 >= 2 z / sqrt(5 headDim) * sqrt(1 + rho^4),   z the (1 - alpha) normal quantile
 * </pre>
 *
 * whose left side falls and whose right side grows with {@code rho}: it holds up to one number.
 */
public final class FlatteningGate {
  private static final int HALVINGS = 60;
  private static final double QUANTILE_BOUND = 40;

  private FlatteningGate() {}

  /**
   * The largest {@code rho} that passes; negative where none does.
   *
   * @param alpha more than 0, up to 0.5
   */
  public static double largestRatio(int headDim, double alpha) {
    double factor = 2 * normalQuantile(1 - alpha) / Math.sqrt(5.0 * headDim);
    if (!passes(0, factor)) {
      return -1;
    }
    double low = 0;
    double high = 1;
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (low + high) / 2;
      if (passes(middle, factor)) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static boolean passes(double rho, double factor) {
    return 1 - rho * rho >= factor * Math.sqrt(1 + Math.pow(rho, 4));
  }

  /** Where the normal distribution function has the value {@code p}. */
  static double normalQuantile(double p) {
    double low = -QUANTILE_BOUND;
    double high = QUANTILE_BOUND;
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (low + high) / 2;
      if (normalDistribution(middle) < p) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return (low + high) / 2;
  }

  /**
   * The normal distribution function, by the series {@code 1/2 + density(x) * (x + x^3/3 + x^5/15 +
   * ...)}, whose terms are all of one sign, so that nothing cancels.
   */
  static double normalDistribution(double x) {
    if (Math.abs(x) > 8.5) {
      return x < 0 ? 0 : 1;
    }
    double term = x;
    double sum = x;
    for (int i = 3; Math.abs(term) > 1e-17 * Math.abs(sum); i += 2) {
      term *= x * x / i;
      sum += term;
    }
    return 0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  }
}
