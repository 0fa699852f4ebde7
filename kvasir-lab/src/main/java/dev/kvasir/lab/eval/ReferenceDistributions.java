package dev.kvasir.lab.eval;

import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * The reference's distributions after the tokens of a block, computed once for all rows that are
 * compared with it. With a large vocabulary the exponentials of a row take a tenth of its forward
 * pass, so tokens are computed in parallel.
 */
final class ReferenceDistributions {
  /**
   * How far a row is from the reference after one token.
   *
   * @param divergence KL divergence of the row from the reference, in nats
   * @param surprise negative log probability of the next token in the row
   * @param sameTop whether both have the same most likely token
   */
  record TokenScore(double divergence, double surprise, boolean sameTop) {}

  private final int vocabulary;
  private final float[] logits; // (tokens, vocabulary)
  private final float[] weights; // (tokens, vocabulary): probabilities
  private final double[] sums; // of the weights of a token, 1 up to rounding
  private final double[] norms; // log-sum-exp of a token's logits
  private final int[] tops;

  ReferenceDistributions(int tokens, int vocabulary) {
    this.vocabulary = vocabulary;
    this.logits = new float[tokens * vocabulary];
    this.weights = new float[tokens * vocabulary];
    this.sums = new double[tokens];
    this.norms = new double[tokens];
    this.tops = new int[tokens];
  }

  /**
   * Takes the logits of a step.
   *
   * @param start index in the logits of those after a token of the step
   * @param first index in the block of the first token
   */
  void take(float[] source, IntUnaryOperator start, int first, int count) {
    IntStream.range(0, count).parallel().forEach(i -> take(first + i, source, start.applyAsInt(i)));
  }

  private void take(int token, float[] source, int sourceAt) {
    int at = token * vocabulary;
    System.arraycopy(source, sourceAt, logits, at, vocabulary);
    double norm = Distributions.logSumExp(logits, at, vocabulary);
    double sum = 0;
    for (int i = at; i < at + vocabulary; i++) {
      weights[i] = (float) Math.exp(logits[i] - norm);
      sum += weights[i];
    }
    sums[token] = sum;
    norms[token] = norm;
    tops[token] = ArgMax.of(logits, at, vocabulary);
  }

  /**
   * Compares the logits of a step with the reference's.
   *
   * @param start index in the logits of those after a token of the step
   * @param first index in the block of the first token
   * @param ids tokens of the text
   * @param next index in the text of the token after the first
   */
  TokenScore[] compare(
      float[] q, IntUnaryOperator start, int first, int count, int[] ids, int next) {
    return IntStream.range(0, count)
        .parallel()
        .mapToObj(i -> compare(first + i, q, start.applyAsInt(i), ids[next + i]))
        .toArray(TokenScore[]::new);
  }

  private TokenScore compare(int token, float[] q, int qAt, int next) {
    int at = token * vocabulary;
    double norm = Distributions.logSumExp(q, qAt, vocabulary);
    double apart = 0;
    for (int i = 0; i < vocabulary; i++) {
      apart += weights[at + i] * ((double) logits[at + i] - q[qAt + i]);
    }
    // Rounding may leave a tiny negative number where the two are nearly equal.
    double divergence = Math.max(0, apart / sums[token] - norms[token] + norm);
    boolean sameTop = tops[token] == ArgMax.of(q, qAt, vocabulary);
    return new TokenScore(divergence, norm - q[qAt + next], sameTop);
  }
}
