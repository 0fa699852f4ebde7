package dev.kvasir.family;

/** The KL divergence between next-token distributions given as logits. */
final class KlDivergence {
  private KlDivergence() {}

  /** Returns the mean over rows in nats; NaN if a logit is NaN. */
  static double mean(float[][] expected, float[][] found) {
    double sum = 0;
    for (int row = 0; row < expected.length; row++) {
      sum += of(expected[row], found[row]);
    }
    return sum / expected.length;
  }

  private static double of(float[] expected, float[] found) {
    double expectedTotal = logOfSum(expected);
    double foundTotal = logOfSum(found);
    double sum = 0;
    for (int i = 0; i < expected.length; i++) {
      double likely = expected[i] - expectedTotal;
      sum += Math.exp(likely) * (likely - (found[i] - foundTotal));
    }
    return sum;
  }

  private static double logOfSum(float[] logits) {
    double sum = 0;
    for (float logit : logits) {
      sum += Math.exp(logit);
    }
    return Math.log(sum);
  }
}
