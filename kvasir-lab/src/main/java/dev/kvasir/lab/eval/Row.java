package dev.kvasir.lab.eval;

import java.util.Map;

/**
 * One kind of cache and all that is known of it.
 *
 * @param spec the cache, as typed
 * @param scores by task; those tasks are missing that an interruption left undone
 * @param comparisons by task, for each score
 */
public record Row(
    String spec,
    Footprint footprint,
    Map<Task, Score> scores,
    Map<Task, ScoreComparison> comparisons) {

  /** How its score differs from that of a row that read the same text or answered the same. */
  public Difference differenceFrom(Row other, Task task) {
    return ScoreComparisons.difference(task, scores.get(task), other.scores.get(task));
  }
}
