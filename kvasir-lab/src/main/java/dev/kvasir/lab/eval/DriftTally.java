package dev.kvasir.lab.eval;

import dev.kvasir.lab.eval.DriftPiece.Departures;
import java.util.ArrayList;
import java.util.List;

/** What the generated tokens of a row add up to. */
final class DriftTally {
  private final List<Double> openings = new ArrayList<>(); // mean divergence of each
  private final List<Double> parted = new ArrayList<>();
  private final List<Double> byPosition = new ArrayList<>(); // sums over openings
  private double divergence;
  private int tokens;
  private int together = -1;

  /**
   * Of all openings of a row.
   *
   * @param parts in the order of openings
   * @param row its place among those of the parts
   */
  static Score.Drift score(List<Departures> parts, int row) {
    DriftTally tally = new DriftTally();
    for (Departures part : parts) {
      for (int opening = 0; opening < part.apart().size(); opening++) {
        double[][] apart = part.apart().get(opening);
        for (int token = 0; token < apart.length; token++) {
          tally.add(apart[token][row], part.same().get(opening)[token][row]);
        }
        tally.endOpening();
      }
    }
    return tally.score();
  }

  /**
   * Adds a token.
   *
   * @param apart divergence of the distribution that it was chosen from
   * @param same whether the likeliest token is the reference's
   */
  private void add(double apart, boolean same) {
    if (tokens == byPosition.size()) {
      byPosition.add(0.0);
    }
    byPosition.set(tokens, byPosition.get(tokens) + apart);
    divergence += apart;
    if (!same && together < 0) {
      together = tokens;
    }
    tokens++;
  }

  private void endOpening() {
    openings.add(divergence / tokens);
    parted.add((double) (together < 0 ? tokens : together));
    divergence = 0;
    tokens = 0;
    together = -1;
  }

  private Score.Drift score() {
    return new Score.Drift(
        Means.estimate(openings),
        List.copyOf(openings),
        Means.estimate(parted),
        byPosition.size(),
        List.copyOf(parted),
        alongTheText());
  }

  private List<Double> alongTheText() {
    List<Double> means = new ArrayList<>();
    for (int from = 0; from < byPosition.size(); from += Score.Drift.STRETCH) {
      int to = Math.min(from + Score.Drift.STRETCH, byPosition.size());
      means.add(Means.of(byPosition.subList(from, to)) / openings.size());
    }
    return List.copyOf(means);
  }
}
