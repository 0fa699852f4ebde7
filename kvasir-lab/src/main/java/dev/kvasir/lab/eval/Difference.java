package dev.kvasir.lab.eval;

/**
 * How a row differs from another one in a task.
 *
 * @param value this row's figure less the other's
 * @param verdict what the samples, compared pair by pair, allow to say
 */
public record Difference(double value, Verdict verdict) {
  /** Whether a difference is more than sampling error. */
  public enum Verdict {
    /** Not told apart from the other row. */
    WITHIN_ERROR,
    BETTER,
    WORSE
  }
}
