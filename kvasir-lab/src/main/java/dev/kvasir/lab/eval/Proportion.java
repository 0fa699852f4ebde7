package dev.kvasir.lab.eval;

import java.io.Serializable;
import java.util.List;

/** The number of successes in a number of tries. */
public record Proportion(int right, int tries) implements Serializable {
  /** The 97.5th percentile of the normal distribution. */
  private static final double Z = 1.959963984540054;

  static Proportion of(List<Double> samples) {
    return new Proportion(
        (int) samples.stream().filter(sample -> sample == 1).count(), samples.size());
  }

  public double value() {
    return tries == 0 ? Double.NaN : (double) right / tries;
  }

  /**
   * Returns the proportion with Wilson's score interval (1927). It stays within 0 and 1 and is
   * accurate for few tries and for proportions near the ends, where the usual "value plus or minus"
   * interval collapses.
   */
  public Estimate estimate() {
    if (tries == 0) {
      return new Estimate(Double.NaN, Double.NaN, Double.NaN);
    }
    double p = value();
    double z2 = Z * Z / tries;
    double middle = (p + z2 / 2) / (1 + z2);
    double half = Z / (1 + z2) * Math.sqrt(p * (1 - p) / tries + z2 / (4 * tries));
    return new Estimate(p, right == 0 ? 0 : middle - half, right == tries ? 1 : middle + half);
  }
}
