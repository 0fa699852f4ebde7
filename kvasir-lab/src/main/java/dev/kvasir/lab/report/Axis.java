package dev.kvasir.lab.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * A linear axis.
 *
 * @param least lower end
 * @param most upper end, more than {@code least}
 * @param from coordinate of {@code least}
 * @param to coordinate of {@code most}
 */
record Axis(double least, double most, double from, double to) {
  private static final int TICKS = 5;

  /** Creates an axis from 0 on. */
  Axis(double most, double from, double to) {
    this(0, most, from, to);
  }

  double at(double value) {
    return from + (value - least) / (most - least) * (to - from);
  }

  /** Returns about {@link #TICKS} round numbers. */
  List<Double> ticks() {
    double rough = (most - least) / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double digit = rough / power;
    double step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
    return LongStream.rangeClosed((long) Math.ceil(least / step), (long) Math.floor(most / step))
        .mapToObj(i -> i * step)
        .toList();
  }

  static String label(double tick) {
    return String.format(Locale.ROOT, "%.4f", tick).replaceAll("\\.?0+$", "");
  }
}
