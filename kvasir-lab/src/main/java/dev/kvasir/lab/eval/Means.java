package dev.kvasir.lab.eval;

import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** Means of samples with bootstrap confidence intervals. */
final class Means {
  private Means() {}

  static double of(List<Double> samples) {
    return samples.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
  }

  static Estimate estimate(List<Double> samples) {
    return estimate(samples, DoubleUnaryOperator.identity());
  }

  /**
   * Returns a growing function of the mean with its bootstrap interval. That assumes nothing about
   * the distribution, which is far from normal where a few tokens carry most of the error.
   */
  static Estimate estimate(List<Double> samples, DoubleUnaryOperator function) {
    double[] values = samples.stream().mapToDouble(Double::doubleValue).toArray();
    return Bootstrap.estimate(
        function.applyAsDouble(of(samples)),
        values.length,
        drawn -> function.applyAsDouble(Bootstrap.mean(values, drawn)));
  }
}
