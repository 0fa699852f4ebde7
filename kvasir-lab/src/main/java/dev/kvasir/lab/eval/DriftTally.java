package dev.kvasir.lab.eval;

import dev.kvasir.lab.eval.DriftTask.DriftSamples;
import java.util.ArrayList;
import java.util.List;

/** Aggregates the drift samples of a row. */
final class DriftTally {
  private final List<Double> openings = new ArrayList<>(); // mean divergence of each
  private final List<Double> agreedTokens = new ArrayList<>();
  private final List<Double> byPosition = new ArrayList<>(); // sums over openings
  private double divergence;
  private int tokens;
  private int firstMismatch = -1;

  /**
   * Returns the score over all openings of a row.
   *
   * @param parts in the order of openings
   * @param row index of the row in the parts
   */
  static Score.Drift score(List<DriftSamples> parts, int row) {
    DriftTally tally = new DriftTally();
    for (DriftSamples part : parts) {
      for (int opening = 0; opening < part.divergences().size(); opening++) {
        double[][] kl = part.divergences().get(opening);
        for (int token = 0; token < kl.length; token++) {
          tally.add(kl[token][row], part.sameTop().get(opening)[token][row]);
        }
        tally.endOpening();
      }
    }
    return tally.score();
  }

  /**
   * Adds a token.
   *
   * @param kl divergence of the distribution that the token was sampled from
   * @param same whether the most likely token equals that of the reference
   */
  private void add(double kl, boolean same) {
    if (tokens == byPosition.size()) {
      byPosition.add(0.0);
    }
    byPosition.set(tokens, byPosition.get(tokens) + kl);
    divergence += kl;
    if (!same && firstMismatch < 0) {
      firstMismatch = tokens;
    }
    tokens++;
  }

  private void endOpening() {
    openings.add(divergence / tokens);
    agreedTokens.add((double) (firstMismatch < 0 ? tokens : firstMismatch));
    divergence = 0;
    tokens = 0;
    firstMismatch = -1;
  }

  private Score.Drift score() {
    return new Score.Drift(
        Means.estimate(openings),
        List.copyOf(openings),
        Means.estimate(agreedTokens),
        byPosition.size(),
        List.copyOf(agreedTokens),
        meansByPosition());
  }

  private List<Double> meansByPosition() {
    List<Double> means = new ArrayList<>();
    for (int from = 0; from < byPosition.size(); from += Score.Drift.SEGMENT_TOKENS) {
      int to = Math.min(from + Score.Drift.SEGMENT_TOKENS, byPosition.size());
      means.add(Means.of(byPosition.subList(from, to)) / openings.size());
    }
    return List.copyOf(means);
  }
}
