package dev.kvasir.lab.eval;

/** Functions of next-token distributions given as logits, in nats. Sums are in double precision. */
final class Distributions {
  private Distributions() {}

  /** Returns the log-sum-exp of the logits, which normalizes them to probabilities. */
  static double logSumExp(float[] logits, int at, int count) {
    double max = max(logits, at, count);
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += Math.exp(logits[i] - max);
    }
    return max + Math.log(sum);
  }

  /**
   * Returns the KL divergence KL(p || q).
   *
   * <p>With logits x and y and their log-sum-exps P and Q, it is {@code sum p (x - y) - P + Q},
   * which is exactly zero for equal rows.
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
    // Rounding may leave a tiny negative number where the two are nearly equal.
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
