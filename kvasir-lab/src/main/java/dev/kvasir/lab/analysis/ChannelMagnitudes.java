package dev.kvasir.lab.analysis;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The mean magnitude of each key channel of a layer, and how it compares with another reading of
 * the same tokens (PatternKV, Figures 2 and 7).
 *
 * @param means (kvHeads * keyDim)
 */
public record ChannelMagnitudes(double[] means) {
  /** Share of channels that count as outliers. */
  private static final double OUTLIERS = 0.05;

  public static ChannelMagnitudes of(KeysAndValues text, int layer) {
    int width = text.shape().keyDim();
    double[] means = new double[text.shape().kvHeads() * width];
    for (int head = 0; head < text.shape().kvHeads(); head++) {
      float[] keys = text.keys()[layer][head];
      for (int i = 0; i < keys.length; i++) {
        means[head * width + i % width] += Math.abs(keys[i]) / (double) text.tokens();
      }
    }
    return new ChannelMagnitudes(means);
  }

  /** Returns the largest mean divided by the mean of all channels. */
  public double peak() {
    return max() / mean();
  }

  public double mean() {
    return Arrays.stream(means).average().orElse(Double.NaN);
  }

  public double max() {
    return Arrays.stream(means).max().orElse(Double.NaN);
  }

  /** Returns the share of outlier channels that the other reading has too. */
  public double sharedOutliers(ChannelMagnitudes other) {
    int count = Math.max(1, (int) Math.round(OUTLIERS * means.length));
    int[] own = largest(count);
    int[] others = other.largest(count);
    long shared =
        Arrays.stream(own).filter(i -> Arrays.stream(others).anyMatch(j -> i == j)).count();
    return (double) shared / count;
  }

  private int[] largest(int count) {
    return IntStream.range(0, means.length)
        .boxed()
        .sorted((i, j) -> Double.compare(means[j], means[i]))
        .limit(count)
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** Returns Pearson's correlation of the channels' means. */
  public double correlation(ChannelMagnitudes other) {
    return Correlation.of(means, other.means);
  }
}
