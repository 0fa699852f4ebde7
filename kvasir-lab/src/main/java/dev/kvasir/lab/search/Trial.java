package dev.kvasir.lab.search;

import java.util.List;

/**
 * The result of a trial.
 *
 * @param point value of each parameter
 * @param losses results; less is better
 */
public record Trial(List<Double> point, List<Double> losses) {
  public Trial {
    point = List.copyOf(point);
    losses = List.copyOf(losses);
  }

  /** Returns whether this trial is better in one loss and no worse in any. */
  boolean dominates(Trial other) {
    boolean better = false;
    for (int i = 0; i < losses.size(); i++) {
      if (losses.get(i) > other.losses.get(i)) {
        return false;
      }
      better |= losses.get(i) < other.losses.get(i);
    }
    return better;
  }
}
