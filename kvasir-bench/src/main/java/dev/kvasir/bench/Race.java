package dev.kvasir.bench;

import dev.kvasir.lab.eval.Estimate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Alternates engines within one run, so that load on the machine affects all of them, and returns
 * medians.
 *
 * @param warmUps rounds for compilation that are not counted
 */
record Race(int promptTokens, int generatedTokens, int warmUps, int rounds) {
  /** Fewer rounds say nothing about their spread. */
  private static final int MIN_SPREAD = 3;

  /** Tokens per second. */
  record Speed(String name, double prompt, double generation) {}

  /**
   * @param prefillEngines one for each engine, with the prompt to prefill
   * @param decodeEngines the same engines, with the prompt to generate after
   */
  List<Speed> run(
      List<BenchEngine> prefillEngines, List<BenchEngine> decodeEngines, IntConsumer roundsDone) {
    double[][] prompt = new double[prefillEngines.size()][rounds];
    double[][] generation = new double[prefillEngines.size()][rounds];
    for (int round = -warmUps; round < rounds; round++) {
      for (int i = 0; i < prefillEngines.size(); i++) {
        long prefillNanos = prefillEngines.get(i).prefill();
        long decodeNanos = decodeEngines.get(i).generate(generatedTokens);
        if (round >= 0) {
          prompt[i][round] = promptTokens * 1e9 / prefillNanos;
          generation[i][round] = generatedTokens * 1e9 / decodeNanos;
        }
      }
      if (round >= 0) {
        roundsDone.accept(round + 1);
      }
    }
    List<Speed> speeds = new ArrayList<>();
    for (int i = 0; i < prefillEngines.size(); i++) {
      speeds.add(new Speed(prefillEngines.get(i).name(), median(prompt[i]), median(generation[i])));
    }
    return speeds;
  }

  /** Returns the median, with the least and the greatest of three or more values as interval. */
  static Estimate spread(double[] values) {
    double median = median(values);
    if (values.length < MIN_SPREAD) {
      return new Estimate(median, Double.NaN, Double.NaN);
    }
    return new Estimate(
        median,
        Arrays.stream(values).min().orElseThrow(),
        Arrays.stream(values).max().orElseThrow());
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
