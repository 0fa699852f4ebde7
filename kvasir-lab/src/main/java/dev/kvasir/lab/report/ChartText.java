package dev.kvasir.lab.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Collection;
import java.util.Locale;

/** Numbers of charts, and the room that text takes. */
final class ChartText {
  /** Pixels of a line. */
  static final int LINE = 16;

  /** Pixels of a digit of a wide font at the size of 12 that charts use. */
  private static final double CHARACTER = 7.8;

  private ChartText() {}

  static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** Returns three significant digits. */
  static String digits(double value) {
    BigDecimal rounded = new BigDecimal(value).round(new MathContext(3));
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }

  static String percent(double share) {
    return Axis.label(Math.round(1000 * share) / 10.0) + " %";
  }

  /** Returns pixels that fit the longest of some labels. */
  static double width(Collection<String> labels) {
    return CHARACTER * labels.stream().mapToInt(String::length).max().orElse(0);
  }

  /** Returns text that fits into a number of pixels. */
  static String cut(String words, double pixels) {
    int most = (int) (pixels / CHARACTER);
    return words.length() <= most ? words : words.substring(0, most - 1) + "…";
  }
}
