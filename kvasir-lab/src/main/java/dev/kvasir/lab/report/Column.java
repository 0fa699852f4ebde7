package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Difference.Verdict;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.ScoreComparison;
import dev.kvasir.lab.eval.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * A column of an evaluation table, shared by all renderings.
 *
 * @param width maximum characters of its values and intervals
 * @param task task whose marks the column shows; empty for values that are not compared
 * @param detail whether the column only adds to another one, so that a short table omits it
 * @param format format of the scaled value
 */
public record Column(
    String title,
    int width,
    Optional<Task> task,
    boolean detail,
    String format,
    double scale,
    Function<Row, Optional<Estimate>> estimate) {

  public static List<Column> of(Evaluation evaluation) {
    List<Column> columns = new ArrayList<>();
    columns.add(plain("bits", 5, false, "%.2f", 1, row -> row.footprint().bitsPerValue()));
    columns.add(
        plain("KV MiB", 6, true, "%.2f", 1.0 / (1 << 20), row -> row.footprint().kvBytes()));
    if (evaluation.rows().stream().anyMatch(row -> row.footprint().hasSpeed())) {
      columns.add(plain("tok/s", 5, false, "%.0f", 1, row -> row.footprint().tokensPerSecond()));
    }
    int answers = evaluation.settings().sampling().answers();
    for (Task task : evaluation.settings().tasks()) {
      columns.addAll(of(task, answers));
      if (answers > 1 && task.hasAnswers()) {
        columns.addAll(sampled(task, answers));
      }
    }
    return columns;
  }

  /** Returns the majority of several answers, and the deviation of a single one. */
  private static List<Column> sampled(Task task, int answers) {
    return List.of(
        secondary(
            task,
            Score.class,
            "maj@" + answers,
            11,
            "%.1f%%",
            100,
            score -> score.sampled().majorityScore()),
        secondary(
            task,
            Score.class,
            "pass@1 sd",
            9,
            "%.1f%%",
            100,
            score -> new Estimate(score.sampled().deviation(), Double.NaN, Double.NaN)));
  }

  private static List<Column> of(Task task, int answers) {
    String title = answers == 1 ? task.label() : "%s avg@%d".formatted(task.label(), answers);
    Column share =
        scored(task, title, Math.max(11, title.length()), "%.1f%%", 100, Score::estimate);
    return switch (task) {
      case PPL -> List.of(scored(task, "ppl", 11, "%.2f", 1, Score::estimate));
      case KLD ->
          List.of(
              scored(task, "kld", 13, "%.4f", 1, Score::estimate),
              secondary(task, Score.Divergence.class, "kld p99", 7, "%.3f", 1, Column::p99),
              secondary(
                  task,
                  Score.Divergence.class,
                  "same top",
                  11,
                  "%.1f%%",
                  100,
                  divergence -> divergence.sameTop().estimate()));
      case PROSE -> List.of(scored(task, "prose kld", 13, "%.4f", 1, Score::estimate));
      case DRIFT ->
          List.of(
              scored(task, "drift", 13, "%.4f", 1, Score::estimate),
              secondary(task, Score.Drift.class, "together", 9, "%.0f", 1, Score.Drift::together));
      case CHAIN ->
          List.of(
              share,
              secondary(task, Score.Chain.class, "steps", 9, "%.1f", 1, Score.Chain::rightSteps));
      case NEEDLE, RECORDS, JSONL -> List.of(share);
    };
  }

  private static Estimate p99(Score.Divergence divergence) {
    return new Estimate(divergence.p99(), Double.NaN, Double.NaN);
  }

  private static Column plain(
      String title,
      int width,
      boolean detail,
      String format,
      double scale,
      Function<Row, Number> figure) {
    return new Column(
        title,
        width,
        Optional.empty(),
        detail,
        format,
        scale,
        row -> Optional.of(new Estimate(figure.apply(row).doubleValue(), Double.NaN, Double.NaN)));
  }

  private static Column scored(
      Task task,
      String title,
      int width,
      String format,
      double scale,
      Function<Score, Estimate> estimate) {
    return new Column(
        title,
        width,
        Optional.of(task),
        false,
        format,
        scale,
        row -> Optional.ofNullable(row.scores().get(task)).map(estimate));
  }

  private static <S extends Score> Column secondary(
      Task task,
      Class<S> kind,
      String title,
      int width,
      String format,
      double scale,
      Function<S, Estimate> estimate) {
    return new Column(
        title,
        width,
        Optional.empty(),
        true,
        format,
        scale,
        row -> Optional.ofNullable(row.scores().get(task)).map(kind::cast).map(estimate));
  }

  /** Returns a dash if the task was not finished. */
  public String valueText(Row row) {
    return estimate.apply(row).map(found -> text(found.value())).orElse("-");
  }

  /** Returns an empty string if there is no interval. */
  public String interval(Row row) {
    return estimate
        .apply(row)
        .filter(found -> found.low() < found.high())
        .map(found -> text(found.low()).replace("%", "") + "-" + text(found.high()))
        .orElse("");
  }

  /**
   * Returns an arrow if the row is worse or better than the reference, and a star if it is worse
   * than the best other row; both only beyond sampling error.
   */
  public String marks(Row row) {
    ScoreComparison comparison = task.map(compared -> row.comparisons().get(compared)).orElse(null);
    if (comparison == null) {
      return "";
    }
    String arrow =
        switch (comparison.fromReference().verdict()) {
          case WITHIN_ERROR -> "";
          case BETTER -> "↑";
          // Divergence is itself a distance from fp16, so only rows are compared with each other.
          case WORSE -> task.filter(Task::isDistance).isPresent() ? "" : "↓";
        };
    boolean behind =
        comparison.fromBest().filter(best -> best.verdict() == Verdict.WORSE).isPresent();
    return arrow + (behind ? "*" : "");
  }

  private String text(double value) {
    if (Double.isNaN(value)) {
      return "?";
    }
    // A model that cannot handle a text may have a huge perplexity.
    return String.format(Locale.ROOT, value * scale < 1e5 ? format : "%.0e", value * scale);
  }
}
