package dev.kvasir.lab.claim;

import dev.kvasir.lab.eval.Bootstrap;
import dev.kvasir.lab.eval.Estimate;
import java.util.List;
import java.util.function.DoubleBinaryOperator;

/**
 * Samples of two rows on the same text or questions.
 *
 * @param first by block of text or question
 * @param second in the same order
 */
record PairedSamples(List<Double> first, List<Double> second) {
  Estimate difference() {
    return estimate((one, other) -> one - other);
  }

  Estimate ratio() {
    return estimate((one, other) -> one / other);
  }

  /** Returns a function of both means with its bootstrap interval, pairs drawn together. */
  Estimate estimate(DoubleBinaryOperator function) {
    double[] ones = values(first);
    double[] others = values(second);
    return Bootstrap.estimate(
        function.applyAsDouble(mean(first), mean(second)),
        ones.length,
        drawn ->
            function.applyAsDouble(Bootstrap.mean(ones, drawn), Bootstrap.mean(others, drawn)));
  }

  private static double[] values(List<Double> samples) {
    return samples.stream().mapToDouble(Double::doubleValue).toArray();
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
