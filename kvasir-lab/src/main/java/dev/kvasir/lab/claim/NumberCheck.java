package dev.kvasir.lab.claim;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.DoublePredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Checks of named numbers. */
final class NumberCheck {
  private NumberCheck() {}

  static Check atLeast(String name, double least, String format) {
    return judged(name, value -> value >= least, format);
  }

  static Check atMost(String name, double most, String format) {
    return judged(name, value -> value <= most, format);
  }

  /**
   * Checks that the first number is at least a multiple of the second.
   *
   * @param format format of the ratio
   */
  static Check timesAtLeast(double least, String name, String other, String format) {
    return times(name, other, times -> times >= least, format);
  }

  static Check timesAtMost(double most, String name, String other, String format) {
    return times(name, other, times -> times <= most, format);
  }

  private static Check times(String name, String other, DoublePredicate holds, String format) {
    return measurements -> {
      OptionalDouble found = measurements.number(name);
      OptionalDouble second = measurements.number(other);
      return found.isEmpty() || second.isEmpty()
          ? Finding.NONE
          : finding(found.getAsDouble() / second.getAsDouble(), holds, format);
    };
  }

  /** Checks that each number is less than the previous one. */
  static Check decreasing(String format, String... names) {
    return measurements -> {
      List<Double> found = found(measurements, Arrays.stream(names));
      if (found.size() < names.length) {
        return Finding.NONE;
      }
      boolean falls =
          IntStream.range(1, names.length).allMatch(i -> found.get(i) < found.get(i - 1));
      return Finding.of(falls, joined(found, format));
    };
  }

  /**
   * Checks that no layer's number exceeds a bound.
   *
   * @param name name of a layer's number, with %d for the layer
   */
  static Check layersAtMost(String name, double most, String format) {
    return ofLayers(name, format, layers -> layers.stream().allMatch(one -> one <= most));
  }

  /** Checks that the first and last layers have larger numbers than all others. */
  static Check endsAreLargest(String name, String format) {
    return ofLayers(
        name,
        format,
        layers ->
            layers.subList(1, layers.size() - 1).stream()
                .allMatch(one -> one < Math.min(layers.getFirst(), layers.getLast())));
  }

  private static Check ofLayers(String name, String format, Predicate<List<Double>> holds) {
    return measurements -> {
      Stream<String> names =
          IntStream.iterate(0, layer -> layer + 1)
              .mapToObj(name::formatted)
              .takeWhile(one -> measurements.number(one).isPresent());
      List<Double> layers = found(measurements, names);
      return layers.isEmpty()
          ? Finding.NONE
          : Finding.of(holds.test(layers), joined(layers, format));
    };
  }

  private static List<Double> found(Measurements measurements, Stream<String> names) {
    return names
        .map(measurements::number)
        .filter(OptionalDouble::isPresent)
        .map(OptionalDouble::getAsDouble)
        .toList();
  }

  private static String joined(List<Double> numbers, String format) {
    return numbers.stream()
        .map(number -> String.format(Locale.ROOT, format, number))
        .collect(Collectors.joining(", "));
  }

  /**
   * @param format format of the measured number, for {@link String#format}
   */
  private static Check judged(String name, DoublePredicate holds, String format) {
    return measurements -> {
      OptionalDouble found = measurements.number(name);
      return found.isEmpty() ? Finding.NONE : finding(found.getAsDouble(), holds, format);
    };
  }

  private static Finding finding(double value, DoublePredicate holds, String format) {
    return Finding.of(holds.test(value), String.format(Locale.ROOT, format, value));
  }
}
