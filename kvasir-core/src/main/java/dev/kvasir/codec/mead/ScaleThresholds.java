package dev.kvasir.codec.mead;

import dev.kvasir.kernel.RowCodeLayout;

/** The deviations at which {@link RowEncoder} passes from one initial scale to the next. */
final class ScaleThresholds {
  private ScaleThresholds() {}

  /** Returns the smallest deviation of each scale; the first is zero. */
  static double[] of() {
    double[] thresholds = new double[RowCodeLayout.SCALES];
    for (int scale = 1; scale < thresholds.length; scale++) {
      thresholds[scale] = smallest(scale);
    }
    return thresholds;
  }

  /** Bisects the bits of a double, which are ordered like positive doubles. */
  private static double smallest(int scale) {
    long below = 0;
    long reached = Double.doubleToLongBits(1e6);
    while (reached - below > 1) {
      long middle = below + (reached - below) / 2;
      if (RowEncoder.scaleOf(Double.longBitsToDouble(middle)) >= scale) {
        reached = middle;
      } else {
        below = middle;
      }
    }
    return Double.longBitsToDouble(reached);
  }
}
