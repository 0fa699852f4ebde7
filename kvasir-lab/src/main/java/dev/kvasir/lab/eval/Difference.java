package dev.kvasir.lab.eval;

/**
 * The difference between the scores of two rows in a task.
 *
 * @param value score of this row minus that of the other
 * @param verdict result of the paired comparison of samples
 */
public record Difference(double value, Verdict verdict) {
  /** Whether a difference exceeds the sampling error. */
  public enum Verdict {
    /** Not distinguishable from the other row. */
    WITHIN_ERROR,
    BETTER,
    WORSE
  }
}
