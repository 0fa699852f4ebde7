package dev.kvasir.cli.lab;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The kind of cache that is to be calibrated for: a method and its bits, without any keys. */
record CalibratedCache(Method method, int bits) {
  /** What can be calibrated. */
  enum Method {
    PMKVQ(List.of(2, 4, 8)),
    COMMVQ(List.of(1, 2, 3, 4));

    private final List<Integer> possible;

    Method(List<Integer> possible) {
      this.possible = possible;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static CalibratedCache parse(String typed) {
    for (Method method : Method.values()) {
      for (int bits : method.possible) {
        if (typed.equals(method + ":" + bits)) {
          return new CalibratedCache(method, bits);
        }
      }
    }
    throw new InvalidInputException(
        "--kv is '%s'; what can be calibrated is %s".formatted(typed, known()));
  }

  private static String known() {
    return Arrays.stream(Method.values())
        .map(method -> "%s:BITS with %s".formatted(method, method.possible))
        .collect(Collectors.joining(" and "));
  }

  @Override
  public String toString() {
    return method + ":" + bits;
  }
}
