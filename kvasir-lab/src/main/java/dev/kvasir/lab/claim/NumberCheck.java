package dev.kvasir.lab.claim;

import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.DoublePredicate;

/** Checks of numbers that a trial left by their names. */
final class NumberCheck {
  private NumberCheck() {}

  static Check atLeast(String name, double least, String format) {
    return judged(name, value -> value >= least, format);
  }

  static Check atMost(String name, double most, String format) {
    return judged(name, value -> value <= most, format);
  }

  /**
   * @param format of the figure, for {@link String#format}
   */
  private static Check judged(String name, DoublePredicate holds, String format) {
    return figures -> {
      OptionalDouble found = figures.number(name);
      return found.isEmpty()
          ? Finding.NONE
          : Finding.of(
              holds.test(found.getAsDouble()),
              String.format(Locale.ROOT, format, found.getAsDouble()));
    };
  }
}
