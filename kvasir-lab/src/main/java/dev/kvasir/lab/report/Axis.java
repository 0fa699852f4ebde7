package dev.kvasir.lab.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * Numbers from 0 to {@code most} along one side of a picture.
 *
 * @param most beyond 0
 * @param from where 0 lies
 * @param to where {@code most} lies
 */
record Axis(double most, double from, double to) {
  private static final int TICKS = 5;

  double at(double value) {
    return from + value / most * (to - from);
  }

  /** Round numbers, about {@link #TICKS} of them. */
  List<Double> ticks() {
    double rough = most / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double digit = rough / power;
    double step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
    return LongStream.rangeClosed(0, (long) (most / step)).mapToObj(i -> i * step).toList();
  }

  static String label(double tick) {
    return String.format(Locale.ROOT, "%.4f", tick).replaceAll("\\.?0+$", "");
  }
}
