package dev.kvasir.lab.eval;

import java.io.Serializable;
import java.util.Set;

/**
 * A text that is read into every row's cache.
 *
 * @param ids whole blocks and one more token; the first {@code promptTokens} are not scored
 * @param promptTokens tokens of the unscored prompt, in whole blocks
 * @param tasks the perplexity and divergence tasks that use the text
 * @param measuresFootprint whether footprints are measured at its end
 * @param timed whether decoding after it is timed
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
    return ProgressCounter.prefillCost(0, tokens())
        + (measuresFootprint && timed ? StreamRun.probeCost() : 0);
  }
}
