package dev.kvasir.lab.eval;

import java.io.Serializable;

/**
 * A figure and the interval that holds the true one in 95 of 100 evaluations.
 *
 * @param low {@code NaN} where too few samples were taken to tell
 * @param high like low
 */
public record Estimate(double value, double low, double high) implements Serializable {
  /** A figure without a sampling error. */
  static Estimate exactly(double value) {
    return new Estimate(value, value, value);
  }
}
