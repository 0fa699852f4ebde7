package dev.kvasir.lab.search;

import java.util.List;

/**
 * Settings that were tried.
 *
 * @param point one number for each setting
 * @param losses what came of them; less is better
 */
public record Trial(List<Double> point, List<Double> losses) {
  public Trial {
    point = List.copyOf(point);
    losses = List.copyOf(losses);
  }

  /** Whether it is worse in nothing and better in something. */
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
