package dev.kvasir.lab.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic axis of positive numbers.
 *
 * @param from coordinate of {@code least}
 * @param to coordinate of {@code most}
 */
record LogAxis(double least, double most, double from, double to) {
  private static final int[] DIGITS = {1, 2, 5};

  double at(double value) {
    return from + StrictMath.log(value / least) / StrictMath.log(most / least) * (to - from);
  }

  /** Returns the multiples 1, 2 and 5 of powers of ten in the range. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    int first = (int) Math.floor(StrictMath.log10(least));
    int last = (int) Math.ceil(StrictMath.log10(most));
    for (int power = first; power <= last; power++) {
      for (int digit : DIGITS) {
        double tick = digit * StrictMath.pow(10, power);
        if (tick >= least && tick <= most) {
          ticks.add(tick);
        }
      }
    }
    return ticks;
  }
}
