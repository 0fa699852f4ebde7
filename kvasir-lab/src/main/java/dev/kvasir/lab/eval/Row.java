package dev.kvasir.lab.eval;

import java.util.Map;

/**
 * The results of one cache.
 *
 * @param spec the cache spec as typed
 * @param scores scores by task; tasks that a cancellation left unfinished are missing
 * @param comparisons comparison of each score, by task
 */
public record Row(
    String spec,
    Footprint footprint,
    Map<Task, Score> scores,
    Map<Task, ScoreComparison> comparisons) {

  /** Returns the difference from a row that was evaluated on the same text or questions. */
  public Difference differenceFrom(Row other, Task task) {
    return ScoreComparisons.difference(task, scores.get(task), other.scores.get(task));
  }
}
