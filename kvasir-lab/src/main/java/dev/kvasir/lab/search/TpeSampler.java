package dev.kvasir.lab.search;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Proposes trials with a tree-structured Parzen estimator (Bergstra et al., 2011). It splits trials
 * into good ones and the rest, fits a density to each, and proposes the draw from the good density
 * with the highest density ratio. With two losses, the good trials are those on the first Pareto
 * fronts (Ozaki et al., 2020).
 *
 * <p>A proposal depends only on the seed and the trials, so a search can resume without changing
 * its result.
 */
public final class TpeSampler {
  /** Number of random trials at the start. */
  private static final int AT_RANDOM = 8;

  /**
   * Increment between the seeds of proposals. It differs from the generator's own increment;
   * otherwise a proposal would start with the second number of the previous one.
   */
  private static final long APART = 0xD1342543DE82EF95L;

  private static final double GOOD_SHARE = 0.25;
  private static final int DRAWS = 24;

  private final List<Range> ranges;
  private final long seed;

  public TpeSampler(List<Range> ranges, long seed) {
    this.ranges = List.copyOf(ranges);
    this.seed = seed;
  }

  /**
   * Returns the next point.
   *
   * @param pending points of concurrent trials, which are avoided
   */
  public List<Double> next(List<Trial> trials, List<List<Double>> pending) {
    int number = trials.size() + pending.size();
    SplittableRandom random = new SplittableRandom(seed + APART * (number + 1));
    if (trials.size() < AT_RANDOM) {
      return ranges.stream().map(range -> random.nextDouble(range.least(), range.most())).toList();
    }
    List<Trial> good = ParetoFront.best(trials, (int) Math.ceil(GOOD_SHARE * trials.size()));
    List<List<Double>> others = new ArrayList<>(pending);
    trials.stream().filter(trial -> !good.contains(trial)).map(Trial::point).forEach(others::add);
    return likeliest(
        densities(good.stream().map(Trial::point).toList()), densities(others), random);
  }

  private List<ParzenEstimator> densities(List<List<Double>> points) {
    List<ParzenEstimator> densities = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      int setting = i;
      double[] seen = points.stream().mapToDouble(point -> point.get(setting)).toArray();
      densities.add(new ParzenEstimator(ranges.get(i), seen));
    }
    return densities;
  }

  private static List<Double> likeliest(
      List<ParzenEstimator> good, List<ParzenEstimator> others, SplittableRandom random) {
    List<Double> best = null;
    double most = Double.NEGATIVE_INFINITY;
    for (int draw = 0; draw < DRAWS; draw++) {
      List<Double> point = good.stream().map(density -> density.draw(random)).toList();
      double gain = 0;
      for (int i = 0; i < point.size(); i++) {
        gain += good.get(i).logDensity(point.get(i)) - others.get(i).logDensity(point.get(i));
      }
      if (gain > most) {
        most = gain;
        best = point;
      }
    }
    return best;
  }
}
