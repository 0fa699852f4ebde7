package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Finding.interval;
import static dev.kvasir.lab.claim.Finding.number;

import dev.kvasir.lab.eval.Difference;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Task;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Checks that compare rows of a table sample by sample. */
final class RowCheck {
  private RowCheck() {}

  /** Checks that the first row is better than the second beyond sampling error. */
  static Check better(String spec, String other, Task task) {
    return pair(spec, other, task, (row, second) -> ahead(row, second, task));
  }

  /** Checks that a row is better than one of another experiment on the same text. */
  static Check betterThanIn(Experiment elsewhere, String spec, String other, Task task) {
    return measurements ->
        compared(
            measurements.row(spec),
            measurements.measurementsOf(elsewhere).flatMap(found -> found.row(other)),
            task,
            (row, second) -> ahead(row, second, task));
  }

  /** Checks that a row of another experiment on the same text is better than one of this. */
  static Check worseThanIn(Experiment elsewhere, String spec, String other, Task task) {
    return measurements ->
        compared(
            measurements.measurementsOf(elsewhere).flatMap(found -> found.row(other)),
            measurements.row(spec),
            task,
            (row, second) -> ahead(row, second, task));
  }

  private static Finding ahead(Row row, Row second, Task task) {
    Verdict verdict =
        switch (row.differenceFrom(second, task).verdict()) {
          case BETTER -> Verdict.HOLDS;
          case WORSE -> Verdict.FAILS;
          case WITHIN_ERROR -> Verdict.OPEN;
        };
    return finding(verdict, row, second, task);
  }

  /** Checks that the first row has the lower score up to some share of the text. */
  static Check lowerUpTo(double share, String spec, String other, Task task) {
    return pair(
        spec,
        other,
        task,
        (row, second) -> {
          PairedSamples pairs = samples(row, second, task).upTo(share);
          Estimate ratio = pairs.ratio();
          return Finding.of(
              Finding.atMost(ratio, 1),
              "%s %s against %s, ratio"
                  .formatted(
                      task.label(),
                      number("%.4f", pairs.firstMean()),
                      number("%.4f", pairs.secondMean())),
              number("%.2f", ratio.value()) + interval(ratio, "%.2f"));
        });
  }

  /**
   * Checks that answers of the first row are right as often as those of the second, within a
   * margin.
   *
   * @param margin share of questions that may be lost
   */
  static Check answersWithin(double margin, String spec, String other, Task task) {
    return pair(
        spec,
        other,
        task,
        (row, second) ->
            finding(
                Finding.atLeast(samples(row, second, task).difference(), -margin),
                row,
                second,
                task));
  }

  /** Checks that the first score is at most a multiple of the second. */
  static Check atMost(double times, String spec, String other, Task task) {
    return pair(spec, other, task, (row, second) -> scaled(row, second, task, times, true));
  }

  /** Checks that the first score is at least a multiple of the second. */
  static Check atLeast(double times, String spec, String other, Task task) {
    return pair(spec, other, task, (row, second) -> scaled(row, second, task, times, false));
  }

  private static Finding scaled(Row row, Row second, Task task, double times, boolean atMost) {
    Estimate ratio = ratio(row, second, task);
    return finding(
        atMost ? Finding.atMost(ratio, times) : Finding.atLeast(ratio, times), row, second, task);
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
      boolean ahead = verdict(rows.getFirst(), rows.getLast(), task) == Difference.Verdict.BETTER;
      String scores =
          "%s %s; first against last"
              .formatted(
                  task.label(),
                  rows.stream().map(row -> text(row, task)).collect(Collectors.joining(", ")));
      return compared(
          falls ? Verdict.FAILS : ahead ? Verdict.HOLDS : Verdict.OPEN,
          scores,
          rows.getFirst(),
          rows.getLast(),
          task);
    };
  }

  private static Difference.Verdict verdict(Row row, Row other, Task task) {
    return row.differenceFrom(other, task).verdict();
  }

  /** Checks that the first row takes at most a multiple of the second row's bytes. */
  static Check bytesAtMost(double times, String spec, String other) {
    return bytes(
        spec,
        other,
        (row, second) ->
            Finding.exact(
                row.footprint().bitsPerValue() <= times * second.footprint().bitsPerValue(),
                "%s bits against %s"
                    .formatted(
                        number("%.2f", row.footprint().bitsPerValue()),
                        number("%.2f", second.footprint().bitsPerValue()))));
  }

  /**
   * Checks that the first row takes more than the second by at most a share of 16 bits, in texts of
   * some length: what a sequence has once weighs more in shorter ones.
   */
  static Check extraOfFp16AtMost(double share, int tokens, String spec, String other) {
    return bytes(
        spec,
        other,
        (row, second) -> {
          if (row.footprint().tokens() < tokens) {
            return Finding.NONE;
          }
          double extra = (row.footprint().bitsPerValue() - second.footprint().bitsPerValue()) / 16;
          return Finding.exact(extra <= share, number("%.2f%% of an fp16 cache more", 100 * extra));
        });
  }

  private static Check bytes(String spec, String other, BiFunction<Row, Row, Finding> judge) {
    return measurements ->
        measurements
            .row(spec)
            .flatMap(row -> measurements.row(other).map(second -> judge.apply(row, second)))
            .orElse(Finding.NONE);
  }

  /** Combines checks; the finding lists all measurements. */
  static Check all(Check... checks) {
    return measurements -> {
      List<Finding> findings =
          Arrays.stream(checks).map(check -> check.judge(measurements)).toList();
      Verdict worst = findings.stream().map(Finding::verdict).reduce(Verdict.HOLDS, Verdict::and);
      return new Finding(
          worst, joined(findings, Finding::measured), joined(findings, Finding::figure));
    };
  }

  private static String joined(List<Finding> findings, Function<Finding, String> text) {
    return findings.stream()
        .map(text)
        .filter(figure -> !figure.isEmpty())
        .collect(Collectors.joining("; "));
  }

  private static Check pair(
      String spec, String other, Task task, BiFunction<Row, Row, Finding> judge) {
    return measurements -> compared(measurements.row(spec), measurements.row(other), task, judge);
  }

  /** Returns no finding if either row is missing or was not measured. */
  private static Finding compared(
      Optional<Row> row, Optional<Row> second, Task task, BiFunction<Row, Row, Finding> judge) {
    Function<Row, Boolean> measured = one -> one.scores().containsKey(task);
    if (!row.map(measured).orElse(false) || !second.map(measured).orElse(false)) {
      return Finding.NONE;
    }
    return judge.apply(row.get(), second.get());
  }

  private static PairedSamples samples(Row row, Row second, Task task) {
    return new PairedSamples(row.scores().get(task).samples(), second.scores().get(task).samples());
  }

  /** Perplexity is the exponential of its samples' mean. */
  private static Estimate ratio(Row row, Row second, Task task) {
    PairedSamples pairs = samples(row, second, task);
    return task == Task.PPL ? pairs.estimate((one, other) -> Math.exp(one - other)) : pairs.ratio();
  }

  /** Returns both scores and how they compare. */
  private static Finding finding(Verdict verdict, Row row, Row second, Task task) {
    String scores = "%s %s against %s".formatted(task.label(), text(row, task), text(second, task));
    return compared(verdict, scores, row, second, task);
  }

  /** Adds the difference of shares in points, or the ratio of other scores. */
  private static Finding compared(Verdict verdict, String scores, Row row, Row second, Task task) {
    if (task.higherIsBetter()) {
      Estimate points = samples(row, second, task).estimate((one, other) -> 100 * (one - other));
      String figure = number("%+.0f", points.value()) + " points" + interval(points, "%+.0f");
      return Finding.of(verdict, scores + ",", figure);
    }
    if (second.scores().get(task).estimate().value() == 0) {
      return Finding.of(verdict, scores, "");
    }
    Estimate ratio = ratio(row, second, task);
    String format = task == Task.PPL ? "%.3f" : "%.2f";
    String figure = number(format, ratio.value()) + interval(ratio, format);
    return Finding.of(verdict, scores + ", ratio", figure);
  }

  private static String text(Row row, Task task) {
    double value = row.scores().get(task).estimate().value();
    if (task.higherIsBetter()) {
      return number("%.0f%%", 100 * value);
    }
    return number(task == Task.PPL ? "%.2f" : "%.4f", value);
  }
}
