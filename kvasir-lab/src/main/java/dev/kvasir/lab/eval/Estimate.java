package dev.kvasir.lab.eval;

import java.io.Serializable;
import java.util.List;

/**
 * A value with its 95% confidence interval.
 *
 * @param low {@code NaN} if there are too few samples
 * @param high like low
 */
public record Estimate(double value, double low, double high) implements Serializable {
  /** Returns the mean of samples with its bootstrap interval. */
  public static Estimate ofMean(List<Double> samples) {
    return Means.estimate(samples);
  }
}
