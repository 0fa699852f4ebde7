package dev.kvasir.lab.search;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * A Parzen density over a range: a normal kernel at each observed number and one as wide as the
 * range, so that no number is excluded. A kernel is as wide as the gap to its farther neighbor.
 */
final class ParzenEstimator {
  private final Range range;
  private final double[] centres;
  private final double[] widths;

  ParzenEstimator(Range range, double[] seen) {
    this.range = range;
    double[] sorted = seen.clone();
    Arrays.sort(sorted);
    int count = sorted.length;
    this.centres = Arrays.copyOf(sorted, count + 1);
    this.widths = new double[count + 1];
    double narrowest = range.width() / Math.min(100, count + 2);
    for (int i = 0; i < count; i++) {
      double before = i == 0 ? range.least() : sorted[i - 1];
      double after = i == count - 1 ? range.most() : sorted[i + 1];
      double gap = Math.max(sorted[i] - before, after - sorted[i]);
      widths[i] = Math.clamp(gap, narrowest, range.width());
    }
    centres[count] = (range.least() + range.most()) / 2;
    widths[count] = range.width();
  }

  /** Draws a number from the density. */
  double draw(RandomGenerator random) {
    int bell = random.nextInt(centres.length);
    while (true) {
      double x = centres[bell] + widths[bell] * random.nextGaussian();
      if (x >= range.least() && x <= range.most()) {
        return x;
      }
    }
  }

  double logDensity(double x) {
    double sum = 0;
    for (int i = 0; i < centres.length; i++) {
      double z = (x - centres[i]) / widths[i];
      sum += Math.exp(-z * z / 2) / widths[i] / shareInside(i);
    }
    return Math.log(sum / centres.length);
  }

  /** Returns the mass of a kernel within the range. */
  private double shareInside(int bell) {
    double above = (range.most() - centres[bell]) / widths[bell];
    double below = (range.least() - centres[bell]) / widths[bell];
    return normal(above) - normal(below);
  }

  /**
   * Approximates the normal distribution function to 1e-4 by a logistic curve with a cubic
   * correction.
   */
  private static double normal(double z) {
    return 1 / (1 + Math.exp(-z * (1.5976 + 0.07056 * z * z)));
  }
}
