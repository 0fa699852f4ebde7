package dev.kvasir.lab.eval;

import java.util.Optional;

/**
 * A text that flows through every row's cache.
 *
 * @param ids whole blocks and one more; the first {@code promptTokens} are not scored
 * @param promptTokens whole blocks
 * @param perplexity the task that its likelihood is for
 * @param divergence the task that the distance from half precision is for
 * @param weighs whether rows are weighed at its end
 * @param timed whether generating after it is timed
 */
record StreamText(
    int[] ids,
    int promptTokens,
    Optional<Task> perplexity,
    Optional<Task> divergence,
    boolean weighs,
    boolean timed) {

  int tokens() {
    return ids.length - 1;
  }

  boolean isDoneBy(RowInProgress row) {
    return (!weighs || row.isWeighed())
        && perplexity.stream().allMatch(row::has)
        && divergence.stream().allMatch(row::has);
  }

  double work() {
    return Pace.reading(0, tokens());
  }
}
