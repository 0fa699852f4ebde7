package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Finding.interval;
import static dev.kvasir.lab.claim.Finding.number;

import dev.kvasir.lab.eval.Estimate;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Checks of named numbers. */
final class NumberCheck {
  private NumberCheck() {}

  static Check atLeast(String name, double least, String format) {
    return judged(name, estimate -> Finding.atLeast(estimate, least), format);
  }

  static Check atMost(String name, double most, String format) {
    return judged(name, estimate -> Finding.atMost(estimate, most), format);
  }

  /** Checks a number that is counted and not sampled. */
  static Check countAtLeast(String name, double least, String format) {
    return measurements ->
        measurements
            .estimate(name)
            .map(found -> Finding.exact(found.value() >= least, number(format, found.value())))
            .orElse(Finding.NONE);
  }

  /**
   * Checks that the first number is at least a multiple of the second.
   *
   * @param format format of the ratio
   */
  static Check timesAtLeast(double least, String name, String other, String format) {
    return times(name, other, ratio -> Finding.atLeast(ratio, least), format);
  }

  static Check timesAtMost(double most, String name, String other, String format) {
    return times(name, other, ratio -> Finding.atMost(ratio, most), format);
  }

  private static Check times(
      String name, String other, Function<Estimate, Verdict> judge, String format) {
    return measurements -> {
      Optional<Estimate> found = measurements.estimate(name);
      Optional<Estimate> second = measurements.estimate(other);
      return found.isEmpty() || second.isEmpty()
          ? Finding.NONE
          : finding(ratio(found.get(), second.get()), judge, format);
    };
  }

  /** The interval of a ratio is at most as wide as if both numbers erred against each other. */
  private static Estimate ratio(Estimate one, Estimate other) {
    return new Estimate(
        one.value() / other.value(), one.low() / other.high(), one.high() / other.low());
  }

  /** Checks that each number is less than the previous one. */
  static Check decreasing(String format, String... names) {
    return measurements -> {
      List<Estimate> found = found(measurements, Arrays.stream(names));
      if (found.size() < names.length) {
        return Finding.NONE;
      }
      Verdict verdict =
          IntStream.range(1, names.length)
              .mapToObj(i -> Finding.atMost(ratio(found.get(i), found.get(i - 1)), 1))
              .reduce(Verdict.HOLDS, Verdict::and);
      return new Finding(verdict, joined(found, format));
    };
  }

  /**
   * Checks that the magnitude of no layer's number exceeds a bound.
   *
   * @param name name of a layer's number, with %d for the layer
   */
  static Check layersWithin(String name, double most, String format) {
    return ofLayers(
        name,
        format,
        layers ->
            layers.stream()
                .map(one -> Finding.atMost(one, most).and(Finding.atLeast(one, -most)))
                .reduce(Verdict.HOLDS, Verdict::and));
  }

  /** Checks that the last quarter of layers has a larger mean than the half in the middle. */
  static Check deepLayersAreLargest(String name, String format) {
    return ofLayers(
        name,
        format,
        layers -> {
          int quarter = Math.max(1, layers.size() / 4);
          Estimate middle = mean(layers.subList(quarter, layers.size() - quarter));
          Estimate deep = mean(layers.subList(layers.size() - quarter, layers.size()));
          return Finding.atLeast(ratio(deep, middle), 1);
        });
  }

  private static Estimate mean(List<Estimate> layers) {
    return new Estimate(
        layers.stream().mapToDouble(Estimate::value).average().orElseThrow(),
        layers.stream().mapToDouble(Estimate::low).average().orElseThrow(),
        layers.stream().mapToDouble(Estimate::high).average().orElseThrow());
  }

  private static Check ofLayers(
      String name, String format, Function<List<Estimate>, Verdict> judge) {
    return measurements -> {
      Stream<String> names =
          IntStream.iterate(0, layer -> layer + 1)
              .mapToObj(name::formatted)
              .takeWhile(one -> measurements.estimate(one).isPresent());
      List<Estimate> layers = found(measurements, names);
      return layers.isEmpty()
          ? Finding.NONE
          : new Finding(judge.apply(layers), joined(layers, format), range(layers, format));
    };
  }

  private static String range(List<Estimate> layers, String format) {
    DoubleSummaryStatistics values =
        layers.stream().mapToDouble(Estimate::value).summaryStatistics();
    return "%s to %s".formatted(number(format, values.getMin()), number(format, values.getMax()));
  }

  private static List<Estimate> found(Measurements measurements, Stream<String> names) {
    return names.map(measurements::estimate).flatMap(Optional::stream).toList();
  }

  private static String joined(List<Estimate> numbers, String format) {
    return numbers.stream()
        .map(one -> number(format, one.value()) + interval(one, format))
        .collect(Collectors.joining(", "));
  }

  /**
   * @param format format of the measured number, for {@link String#format}
   */
  private static Check judged(String name, Function<Estimate, Verdict> judge, String format) {
    return measurements ->
        measurements
            .estimate(name)
            .map(found -> finding(found, judge, format))
            .orElse(Finding.NONE);
  }

  private static Finding finding(
      Estimate estimate, Function<Estimate, Verdict> judge, String format) {
    return new Finding(
        judge.apply(estimate), number(format, estimate.value()) + interval(estimate, "%.2f"));
  }
}
