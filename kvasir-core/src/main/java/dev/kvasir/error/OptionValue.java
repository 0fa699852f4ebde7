package dev.kvasir.error;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** Checks option values, so that illegal arguments are reported as user errors. */
public final class OptionValue {
  private OptionValue() {}

  public static <T> T check(Supplier<T> settings) {
    try {
      return settings.get();
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException(e.getMessage(), e);
    }
  }

  /** Returns the enum constant that was typed in lower case. */
  public static <E extends Enum<E>> E oneOf(String name, String typed, Class<E> type) {
    List<String> words = new ArrayList<>();
    for (E constant : type.getEnumConstants()) {
      String word = constant.name().toLowerCase(Locale.ROOT);
      if (word.equals(typed)) {
        return constant;
      }
      words.add(word);
    }
    throw new InvalidInputException(
        "%s is '%s'; possible are %s".formatted(name, typed, String.join(", ", words)));
  }

  public static int atLeastOne(String name, int value) {
    return atLeast(name, value, 1);
  }

  public static int atLeast(String name, int value, int least) {
    if (value < least) {
      throw new InvalidInputException(
          "%s is %d; expected at least %d".formatted(name, value, least));
    }
    return value;
  }

  public static int between(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new InvalidInputException(
          "%s is %d; expected %d to %d".formatted(name, value, least, most));
    }
    return value;
  }
}
