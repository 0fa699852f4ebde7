package dev.kvasir.lab.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * A linear axis from 0 to {@code most}.
 *
 * @param most upper end, more than 0
 * @param from coordinate of 0
 * @param to coordinate of {@code most}
 */
record Axis(double most, double from, double to) {
  private static final int TICKS = 5;

  double at(double value) {
    return from + value / most * (to - from);
  }

  /** Returns about {@link #TICKS} round numbers. */
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
