package dev.kvasir.lab.eval;

import java.io.Serializable;
import java.util.Set;

/**
 * A text that flows through every row's cache.
 *
 * @param ids whole blocks and one more; the first {@code promptTokens} are not scored
 * @param promptTokens whole blocks
 * @param tasks those that its likelihood or the distance from half precision is for
 * @param weighs whether rows are weighed at its end
 * @param timed whether generating after it is timed
 */
record StreamText(
    int[] ids, int promptTokens, Set<Task> tasks, boolean measuresFootprint, boolean timed)
    implements Serializable {

  int tokens() {
    return ids.length - 1;
  }

  boolean isDoneBy(RowInProgress row) {
    return (!measuresFootprint || row.hasFootprint()) && tasks.stream().allMatch(row::has);
  }

  double cost() {
    return ProgressCounter.prefillCost(0, tokens());
  }
}
