package dev.kvasir.lab.claim;

import dev.kvasir.lab.eval.Estimate;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Samples of two rows on the same text or questions.
 *
 * @param first by block of text or question
 * @param second in the same order
 */
record PairedSamples(List<Double> first, List<Double> second) {
  private static final int DRAWS = 2000;

  Estimate difference() {
    return estimate((one, other) -> one - other);
  }

  Estimate ratio() {
    return estimate((one, other) -> one / other);
  }

  /**
   * Returns a function of both means with the percentile bootstrap interval, pairs drawn together.
   * The draws are the same in every run.
   */
  Estimate estimate(DoubleBinaryOperator function) {
    int count = first.size();
    double value = function.applyAsDouble(mean(first), mean(second));
    if (count < 2) {
      return new Estimate(value, Double.NaN, Double.NaN);
    }
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(1);
    double[] drawn = new double[DRAWS];
    for (int draw = 0; draw < DRAWS; draw++) {
      double one = 0;
      double other = 0;
      for (int i = 0; i < count; i++) {
        int at = random.nextInt(count);
        one += first.get(at);
        other += second.get(at);
      }
      drawn[draw] = function.applyAsDouble(one / count, other / count);
    }
    Arrays.sort(drawn);
    return new Estimate(value, drawn[(int) (0.025 * DRAWS)], drawn[(int) (0.975 * DRAWS)]);
  }

  /** Returns the pairs of the first part of the text. */
  PairedSamples upTo(double share) {
    int count = (int) Math.round(share * first.size());
    return new PairedSamples(first.subList(0, count), second.subList(0, count));
  }

  double firstMean() {
    return mean(first);
  }

  double secondMean() {
    return mean(second);
  }

  private static double mean(List<Double> samples) {
    return samples.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
  }
}
