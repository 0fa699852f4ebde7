package dev.kvasir.lab.eval;

import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Means of samples with bootstrap confidence intervals. */
final class Means {
  private static final int DRAWS = 2000;

  private Means() {}

  static double of(List<Double> samples) {
    return samples.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
  }

  static Estimate estimate(List<Double> samples) {
    return estimate(samples, DoubleUnaryOperator.identity());
  }

  /**
   * Returns a function of the mean with the percentile bootstrap interval (Efron, 1979). It assumes
   * nothing about the distribution, which is far from normal where a few tokens carry most of the
   * error. The draws are the same in every run.
   */
  static Estimate estimate(List<Double> samples, DoubleUnaryOperator function) {
    double value = function.applyAsDouble(of(samples));
    if (samples.size() < 2) {
      return new Estimate(value, Double.NaN, Double.NaN);
    }
    double[] means = drawnMeans(samples);
    return new Estimate(
        value,
        function.applyAsDouble(means[(int) (0.025 * DRAWS)]),
        function.applyAsDouble(means[(int) (0.975 * DRAWS)]));
  }

  private static double[] drawnMeans(List<Double> samples) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(1);
    double[] values = samples.stream().mapToDouble(Double::doubleValue).toArray();
    double[] means = new double[DRAWS];
    for (int draw = 0; draw < DRAWS; draw++) {
      double sum = 0;
      for (int i = 0; i < values.length; i++) {
        sum += values[random.nextInt(values.length)];
      }
      means[draw] = sum / values.length;
    }
    Arrays.sort(means);
    return means;
  }
}
