package dev.kvasir.lab.eval;

/** What rows of logits say of the next token, in nats. Sums are in double precision. */
final class Distributions {
  private Distributions() {}

  /** The logarithm of the sum of exponentials, which makes logits probabilities. */
  static double logSumExp(float[] logits, int at, int count) {
    double max = max(logits, at, count);
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += Math.exp(logits[i] - max);
    }
    return max + Math.log(sum);
  }

  /**
   * KL(p || q): how much worse q foretells tokens that come as p says.
   *
   * <p>With x and y the logits and P and Q their logarithms of sums, it is {@code sum p (x - y) - P
   * + Q}; zero, and not only nearly, where both rows are the same.
   *
   * @param qNorm {@link #logSumExp} of q
   */
  static double divergence(float[] p, int pAt, float[] q, int qAt, int count, double qNorm) {
    double max = max(p, pAt, count);
    double sum = 0;
    double apart = 0;
    for (int i = 0; i < count; i++) {
      double weight = Math.exp(p[pAt + i] - max);
      sum += weight;
      apart += weight * ((double) p[pAt + i] - q[qAt + i]);
    }
    // Rounding may leave a tiny negative number where the two are nearly the same.
    return Math.max(0, apart / sum - (max + Math.log(sum)) + qNorm);
  }

  static double divergence(float[] p, int pAt, float[] q, int qAt, int count) {
    return divergence(p, pAt, q, qAt, count, logSumExp(q, qAt, count));
  }

  private static double max(float[] logits, int at, int count) {
    double max = Double.NEGATIVE_INFINITY;
    for (int i = at; i < at + count; i++) {
      max = Math.max(max, logits[i]);
    }
    return max;
  }
}
