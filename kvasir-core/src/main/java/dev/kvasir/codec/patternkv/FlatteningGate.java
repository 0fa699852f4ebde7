package dev.kvasir.codec.patternkv;

/**
 * Decides whether a pattern may be subtracted from a value: only if this reduces the quantization
 * error with confidence {@code 1 - alpha}. Let {@code rho} be the range of the residual divided by
 * the range of the value. For rounding errors that are uniform over a step, the condition is
 *
 * <pre>
 * 1 - rho^2 >= 2 z / sqrt(5 headDim) * sqrt(1 + rho^4),   z the (1 - alpha) normal quantile
 * </pre>
 *
 * The left side decreases and the right side increases with {@code rho}, so it holds up to a limit.
 */
public final class FlatteningGate {
  private static final int HALVINGS = 60;
  private static final double QUANTILE_BOUND = 40;

  private FlatteningGate() {}

  /**
   * Returns the largest {@code rho} that satisfies the condition; negative if none does.
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

  /** Returns the {@code p} quantile of the normal distribution. */
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
   * Returns the normal distribution function, by the series {@code 1/2 + density(x) * (x + x^3/3 +
   * x^5/15 + ...)}. All terms have the same sign, so there is no cancellation.
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
