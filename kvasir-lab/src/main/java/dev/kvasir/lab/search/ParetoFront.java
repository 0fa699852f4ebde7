package dev.kvasir.lab.search;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Finds trials that no other trial dominates. */
public final class ParetoFront {
  private ParetoFront() {}

  /** Returns the Pareto front, ordered by the last loss. */
  public static List<Trial> of(List<Trial> trials) {
    return trials.stream()
        .distinct()
        .filter(trial -> trials.stream().noneMatch(other -> other.dominates(trial)))
        .sorted(Comparator.comparingDouble(trial -> trial.losses().getLast()))
        .toList();
  }

  /**
   * Returns the {@code count} best trials, front after front. From the last front it takes those
   * with the largest crowding distance, so that the whole front stays covered.
   */
  static List<Trial> best(List<Trial> trials, int count) {
    List<Trial> best = new ArrayList<>();
    List<Trial> rest = new ArrayList<>(trials);
    while (best.size() < count && !rest.isEmpty()) {
      List<Trial> front = of(rest);
      rest.removeAll(front);
      best.addAll(front.size() <= count - best.size() ? front : spread(front, count - best.size()));
    }
    return best;
  }

  private static List<Trial> spread(List<Trial> front, int count) {
    List<Trial> remaining = new ArrayList<>(front);
    while (remaining.size() > count) {
      remaining.remove(mostCrowded(remaining));
    }
    return remaining;
  }

  /**
   * Returns the trial with the smallest crowding distance on a front of two losses; never an end of
   * the front.
   */
  private static int mostCrowded(List<Trial> front) {
    int found = front.size() - 1;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 1; i < front.size() - 1; i++) {
      double distance = 0;
      for (int loss = 0; loss < front.getFirst().losses().size(); loss++) {
        double all = lossOf(front.getLast(), loss) - lossOf(front.getFirst(), loss);
        double near = lossOf(front.get(i + 1), loss) - lossOf(front.get(i - 1), loss);
        distance += all == 0 ? 0 : Math.abs(near / all);
      }
      if (distance < least) {
        least = distance;
        found = i;
      }
    }
    return found;
  }

  private static double lossOf(Trial trial, int loss) {
    return trial.losses().get(loss);
  }
}
