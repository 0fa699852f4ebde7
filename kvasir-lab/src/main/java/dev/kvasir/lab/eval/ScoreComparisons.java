package dev.kvasir.lab.eval;

import dev.kvasir.lab.eval.Difference.Verdict;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Tests which differences between rows exceed the sampling error. */
final class ScoreComparisons {
  /** Significance level of the tests. */
  private static final double SIGNIFICANCE_LEVEL = 0.05;

  private ScoreComparisons() {}

  /** Returns the rows with each score compared to the first row and to the best of the others. */
  static List<Row> of(List<Row> rows) {
    return rows.stream().map(row -> compared(row, rows)).toList();
  }

  private static Row compared(Row row, List<Row> rows) {
    Map<Task, ScoreComparison> comparisons = new EnumMap<>(Task.class);
    row.scores().forEach((task, score) -> comparison(task, row, rows, comparisons));
    return new Row(row.spec(), row.footprint(), row.scores(), comparisons);
  }

  private static void comparison(
      Task task, Row row, List<Row> rows, Map<Task, ScoreComparison> comparisons) {
    Score score = row.scores().get(task);
    Row reference = rows.getFirst();
    if (!reference.scores().containsKey(task)) {
      return;
    }
    Optional<Row> best =
        rows.stream()
            .skip(1)
            .filter(other -> other.scores().containsKey(task))
            .max(Comparator.comparingDouble(other -> goodness(task, other.scores().get(task))));
    comparisons.put(
        task,
        new ScoreComparison(
            difference(task, score, reference.scores().get(task)),
            best.filter(other -> other == row).isPresent(),
            best.filter(other -> row != reference)
                .map(other -> difference(task, score, other.scores().get(task)))));
  }

  private static double goodness(Task task, Score score) {
    double value = score.estimate().value();
    if (Double.isNaN(value)) {
      return Double.NEGATIVE_INFINITY;
    }
    return task.higherIsBetter() ? value : -value;
  }

  static Difference difference(Task task, Score score, Score other) {
    double value = score.estimate().value() - other.estimate().value();
    return new Difference(value, verdict(task, score, other));
  }

  private static Verdict verdict(Task task, Score score, Score other) {
    List<Double> pairs = differences(score.samples(), other.samples());
    boolean significant =
        switch (score) {
          case Score.Perplexity p -> isSignificantByBootstrap(pairs);
          case Score.Divergence d -> isSignificantByBootstrap(pairs);
          case Score.Drift d -> isSignificantByBootstrap(pairs);
          case Score.Retrieval r -> isSignificantByAnswers(r, pairs);
          case Score.Chain c -> isSignificantByAnswers(c, pairs);
          case Score.Answers a -> isSignificantByAnswers(a, pairs);
        };
    if (!significant) {
      return Verdict.WITHIN_ERROR;
    }
    // NaN is worse than any number.
    return Means.of(pairs) > 0 == task.higherIsBetter() && !Double.isNaN(Means.of(pairs))
        ? Verdict.BETTER
        : Verdict.WORSE;
  }

  private static List<Double> differences(List<Double> samples, List<Double> others) {
    return IntStream.range(0, samples.size())
        .mapToObj(i -> samples.get(i) - others.get(i))
        .toList();
  }

  /** Shares of several answers have sizes, which the sign test would ignore. */
  private static boolean isSignificantByAnswers(Score score, List<Double> pairs) {
    return score.sampled().answers() > 1
        ? isSignificantByBootstrap(pairs)
        : isSignificantBySignTest(pairs);
  }

  /** Returns whether the bootstrap interval of the mean difference excludes zero. */
  private static boolean isSignificantByBootstrap(List<Double> pairs) {
    Estimate mean = Means.estimate(pairs);
    return !(mean.low() <= 0 && mean.high() >= 0) && pairs.size() > 1;
  }

  /**
   * Applies the exact sign test to the questions where the two rows differ (McNemar, 1947): under
   * the null hypothesis each is a coin toss. Five to none is not significant, six to none is.
   */
  static boolean isSignificantBySignTest(List<Double> pairs) {
    int up = (int) pairs.stream().filter(pair -> pair > 0).count();
    int down = (int) pairs.stream().filter(pair -> pair < 0).count();
    int tosses = up + down;
    double tail = 0;
    double logWays = 0; // log of (tosses choose k), which may be huge
    for (int k = 0; k <= Math.min(up, down); k++) {
      tail += Math.exp(logWays - tosses * Math.log(2));
      logWays += Math.log((double) (tosses - k) / (k + 1));
    }
    return up != down && 2 * tail < SIGNIFICANCE_LEVEL;
  }
}
