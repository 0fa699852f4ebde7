package dev.kvasir.lab.eval;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Aggregates the token scores of a text in one row. */
final class StreamTally {
  private final List<Double> divergences = new ArrayList<>(); // of every token
  private final List<Double> blockDivergences = new ArrayList<>();
  private final List<Double> blockLikelihoods = new ArrayList<>();
  private double divergence;
  private double likelihood;
  private int tokens;
  private int same;

  /**
   * Adds a token.
   *
   * @param p logits of the reference
   * @param q logits of this row
   * @param next the next token of the text
   */
  void add(float[] p, int pAt, float[] q, int qAt, int vocabulary, int next) {
    double qNorm = Distributions.logSumExp(q, qAt, vocabulary);
    double apart = Distributions.divergence(p, pAt, q, qAt, vocabulary, qNorm);
    divergences.add(apart);
    divergence += apart;
    likelihood += qNorm - q[qAt + next];
    tokens++;
    same += ArgMax.of(p, pAt, vocabulary) == ArgMax.of(q, qAt, vocabulary) ? 1 : 0;
  }

  void endBlock() {
    blockDivergences.add(divergence / tokens);
    blockLikelihoods.add(likelihood / tokens);
    divergence = 0;
    likelihood = 0;
    tokens = 0;
  }

  Score.Perplexity perplexity() {
    return new Score.Perplexity(
        Means.estimate(blockLikelihoods, Math::exp), List.copyOf(blockLikelihoods));
  }

  Score.Divergence divergence() {
    return new Score.Divergence(
        Means.estimate(blockDivergences),
        percentile99(),
        new Proportion(same, divergences.size()),
        List.copyOf(blockDivergences));
  }

  private double percentile99() {
    List<Double> sorted = new ArrayList<>(divergences);
    Collections.sort(sorted);
    return sorted.get(Math.ceilDiv(99 * sorted.size(), 100) - 1);
  }
}
