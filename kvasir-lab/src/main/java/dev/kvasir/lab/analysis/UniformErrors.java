package dev.kvasir.lab.analysis;

import java.util.Arrays;

/**
 * The mean absolute error that uniform quantization leaves in each channel of a head (MixKVQ,
 * Figures 2 and 6): keys by channel over groups of tokens, values by token over groups of channels.
 *
 * @param means by channel
 */
public record UniformErrors(double[] means) {
  private static final int GROUP = 32;

  /** Returns the errors of a head's keys; tokens beyond whole groups do not count. */
  public static UniformErrors ofKeys(KeysAndValues text, int layer, int head, int bits) {
    int width = text.shape().keyDim();
    int tokens = text.tokens() / GROUP * GROUP;
    float[] keys = text.keys()[layer][head];
    double[] means = new double[width];
    for (int from = 0; from < tokens; from += GROUP) {
      for (int channel = 0; channel < width; channel++) {
        int at = from * width + channel;
        double[] errors = errors(keys, at, width, GROUP, bits);
        means[channel] += Arrays.stream(errors).sum() / tokens;
      }
    }
    return new UniformErrors(means);
  }

  public static UniformErrors ofValues(KeysAndValues text, int layer, int head, int bits) {
    int width = text.shape().valueDim();
    int group = Math.min(GROUP, width);
    float[] values = text.values()[layer][head];
    double[] means = new double[width];
    for (int token = 0; token < text.tokens(); token++) {
      for (int from = 0; from + group <= width; from += group) {
        double[] errors = errors(values, token * width + from, 1, group, bits);
        for (int i = 0; i < group; i++) {
          means[from + i] += errors[i] / text.tokens();
        }
      }
    }
    return new UniformErrors(means);
  }

  /** Quantizes numbers to equal steps between their extremes and returns the absolute errors. */
  static double[] errors(float[] x, int at, int stride, int count, int bits) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, x[at + i * stride]);
      most = Math.max(most, x[at + i * stride]);
    }
    double step = (most - least) / (double) ((1 << bits) - 1);
    double[] errors = new double[count];
    for (int i = 0; i < count && step > 0; i++) {
      double code = Math.rint((x[at + i * stride] - least) / step);
      errors[i] = Math.abs(x[at + i * stride] - (least + code * step));
    }
    return errors;
  }

  public double mean() {
    return Arrays.stream(means).average().orElse(Double.NaN);
  }

  public double max() {
    return Arrays.stream(means).max().orElse(Double.NaN);
  }

  /** Returns the largest error of a channel divided by the median one. */
  public double peak() {
    double[] sorted = means.clone();
    Arrays.sort(sorted);
    return max() / sorted[sorted.length / 2];
  }
}
