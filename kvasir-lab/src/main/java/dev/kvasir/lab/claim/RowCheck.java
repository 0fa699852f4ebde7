package dev.kvasir.lab.claim;

import dev.kvasir.lab.eval.Difference;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Task;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** Checks that compare rows of a table sample by sample. */
final class RowCheck {
  private static final String FP16 = "fp16";

  private RowCheck() {}

  /** Checks that the first row is better than the second beyond sampling error. */
  static Check better(String spec, String other, Task task) {
    return pair(spec, other, task, (row, second) -> ahead(row, second, task));
  }

  private static Verdict ahead(Row row, Row second, Task task) {
    return switch (row.differenceFrom(second, task).verdict()) {
      case BETTER -> Verdict.HOLDS;
      case WORSE -> Verdict.FAILS;
      case WITHIN_ERROR -> Verdict.OPEN;
    };
  }

  /** Checks that a spec's row is better here than in another experiment on the same text. */
  static Check betterThanIn(Experiment other, String spec, Task task) {
    return measurements -> {
      Row row = measurements.row(spec).orElse(null);
      Row second =
          measurements.measurementsOf(other).flatMap(found -> found.row(spec)).orElse(null);
      return compared(row, second, task, (one, two) -> ahead(one, two, task));
    };
  }

  /** Checks that the first row is not worse than the second beyond sampling error. */
  static Check asGood(String spec, String other, Task task) {
    return pair(
        spec,
        other,
        task,
        (row, second) ->
            row.differenceFrom(second, task).verdict() == Difference.Verdict.WORSE
                ? Verdict.FAILS
                : Verdict.HOLDS);
  }

  static Check asGoodAsFp16(String spec, Task task) {
    return asGood(spec, FP16, task);
  }

  /** Checks that the first score is at most a multiple of the second. */
  static Check atMost(double times, String spec, String other, Task task) {
    return pair(
        spec,
        other,
        task,
        (row, second) ->
            value(row, task) <= times * value(second, task) ? Verdict.HOLDS : Verdict.FAILS);
  }

  /** Checks that the first score is at least a multiple of the second. */
  static Check atLeast(double times, String spec, String other, Task task) {
    return pair(
        spec,
        other,
        task,
        (row, second) ->
            value(row, task) >= times * value(second, task) ? Verdict.HOLDS : Verdict.FAILS);
  }

  /** Checks that each row is no worse than the next, and the first better than the last. */
  static Check ordered(Task task, String... specs) {
    return measurements -> {
      List<Row> rows =
          Arrays.stream(specs)
              .flatMap(spec -> measurements.row(spec).stream())
              .filter(row -> row.scores().containsKey(task))
              .toList();
      if (rows.size() < specs.length) {
        return Finding.NONE;
      }
      boolean falls = false;
      for (int i = 0; i + 1 < rows.size(); i++) {
        falls |= verdict(rows.get(i), rows.get(i + 1), task) == Difference.Verdict.WORSE;
      }
      String figure = rows.stream().map(row -> text(row, task)).collect(Collectors.joining(", "));
      if (falls) {
        return new Finding(Verdict.FAILS, figure);
      }
      return verdict(rows.getFirst(), rows.getLast(), task) == Difference.Verdict.BETTER
          ? new Finding(Verdict.HOLDS, figure)
          : new Finding(Verdict.OPEN, figure);
    };
  }

  private static Difference.Verdict verdict(Row row, Row other, Task task) {
    return row.differenceFrom(other, task).verdict();
  }

  /** Checks that the first row takes at most a multiple of the second row's bytes. */
  static Check bytesAtMost(double times, String spec, String other) {
    return measurements ->
        measurements
            .row(spec)
            .flatMap(
                row ->
                    measurements
                        .row(other)
                        .map(
                            second -> {
                              double bits = row.footprint().bitsPerValue();
                              double others = second.footprint().bitsPerValue();
                              return Finding.of(
                                  bits <= times * others,
                                  "%s bits against %s"
                                      .formatted(number("%.2f", bits), number("%.2f", others)));
                            }))
            .orElse(Finding.NONE);
  }

  /** Combines checks; the finding lists all measurements. */
  static Check all(Check... checks) {
    return measurements -> {
      List<Finding> findings =
          Arrays.stream(checks).map(check -> check.judge(measurements)).toList();
      Verdict worst =
          findings.stream().map(Finding::verdict).reduce(Verdict.HOLDS, RowCheck::weaker);
      return new Finding(
          worst,
          findings.stream()
              .map(Finding::measured)
              .filter(figure -> !figure.isEmpty())
              .collect(Collectors.joining("; ")));
    };
  }

  private static Verdict weaker(Verdict one, Verdict other) {
    List<Verdict> order = List.of(Verdict.HOLDS, Verdict.OPEN, Verdict.FAILS, Verdict.NOT_TRIED);
    return order.indexOf(one) >= order.indexOf(other) ? one : other;
  }

  private static Check pair(
      String spec, String other, Task task, BiFunction<Row, Row, Verdict> judge) {
    return measurements ->
        compared(
            measurements.row(spec).orElse(null), measurements.row(other).orElse(null), task, judge);
  }

  /** Returns no finding if either row is missing or was not measured. */
  private static Finding compared(
      Row row, Row second, Task task, BiFunction<Row, Row, Verdict> judge) {
    if (row == null
        || second == null
        || !row.scores().containsKey(task)
        || !second.scores().containsKey(task)) {
      return Finding.NONE;
    }
    return new Finding(
        judge.apply(row, second),
        "%s %s against %s".formatted(task.label(), text(row, task), text(second, task)));
  }

  private static double value(Row row, Task task) {
    return row.scores().get(task).estimate().value();
  }

  private static String text(Row row, Task task) {
    double value = value(row, task);
    if (task.higherIsBetter()) {
      return number("%.0f%%", 100 * value);
    }
    return number(task == Task.PPL ? "%.2f" : "%.4f", value);
  }

  private static String number(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
