package dev.kvasir.cli;

import dev.kvasir.error.InvalidInputException;
import java.util.function.Supplier;

/** Settings made from what a user typed: there, an illegal argument is the user's. */
final class OptionValue {
  private OptionValue() {}

  static <T> T check(Supplier<T> settings) {
    try {
      return settings.get();
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException(e.getMessage(), e);
    }
  }

  static int atLeastOne(String name, int value) {
    if (value < 1) {
      throw new InvalidInputException("%s is %d; expected at least 1".formatted(name, value));
    }
    return value;
  }
}
