package dev.kvasir.lab.eval;

/** What rows of logits say of the next token, in nats. Sums are in double precision. */
final class Distributions {
  private Distributions() {}

  /** The logarithm of the sum of exponentials, which makes logits probabilities. */
  static double logOfSum(float[] logits, int at, int count) {
    double most = most(logits, at, count);
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += Math.exp(logits[i] - most);
    }
    return most + Math.log(sum);
  }

  /**
   * KL(p || q): how much worse q foretells tokens that come as p says.
   *
   * <p>With x and y the logits and P and Q their logarithms of sums, it is {@code sum p (x - y) - P
   * + Q}; zero, and not only nearly, where both rows are the same.
   *
   * @param qNorm {@link #logOfSum} of q
   */
  static double divergence(float[] p, int pAt, float[] q, int qAt, int count, double qNorm) {
    double most = most(p, pAt, count);
    double sum = 0;
    double apart = 0;
    for (int i = 0; i < count; i++) {
      double weight = Math.exp(p[pAt + i] - most);
      sum += weight;
      apart += weight * ((double) p[pAt + i] - q[qAt + i]);
    }
    // Rounding may leave a tiny negative number where the two are nearly the same.
    return Math.max(0, apart / sum - (most + Math.log(sum)) + qNorm);
  }

  static double divergence(float[] p, int pAt, float[] q, int qAt, int count) {
    return divergence(p, pAt, q, qAt, count, logOfSum(q, qAt, count));
  }

  private static double most(float[] logits, int at, int count) {
    double most = Double.NEGATIVE_INFINITY;
    for (int i = at; i < at + count; i++) {
      most = Math.max(most, logits[i]);
    }
    return most;
  }
}
