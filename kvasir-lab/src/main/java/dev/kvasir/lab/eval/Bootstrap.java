package dev.kvasir.lab.eval;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** The percentile bootstrap (Efron, 1979). The draws are the same in every run. */
public final class Bootstrap {
  private static final int DRAWS = 2000;

  private Bootstrap() {}

  /**
   * Returns the 95% interval of a statistic of samples around its value.
   *
   * @param count number of samples; fewer than two have no interval
   * @param statistic of the samples with the given indices, some of them more than once
   */
  public static Estimate estimate(double value, int count, ToDoubleFunction<int[]> statistic) {
    if (count < 2) {
      return new Estimate(value, Double.NaN, Double.NaN);
    }
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(1);
    int[] drawn = new int[count];
    double[] statistics = new double[DRAWS];
    for (int draw = 0; draw < DRAWS; draw++) {
      for (int i = 0; i < count; i++) {
        drawn[i] = random.nextInt(count);
      }
      statistics[draw] = statistic.applyAsDouble(drawn);
    }
    Arrays.sort(statistics);
    return new Estimate(
        value, statistics[(int) (0.025 * DRAWS)], statistics[(int) (0.975 * DRAWS)]);
  }

  /** Returns the mean of the samples with the given indices. */
  public static double mean(double[] samples, int[] drawn) {
    double sum = 0;
    for (int index : drawn) {
      sum += samples[index];
    }
    return sum / drawn.length;
  }
}
