package dev.kvasir.methods.kvquant;

import java.util.Arrays;

/**
 * Fits levels between -1 and 1 to a histogram of numbers. It minimizes squared error by Lloyd's
 * iteration from evenly spaced levels.
 */
final class LevelFit {
  private static final int BINS = 1024;
  private static final int ITERATIONS = 30;

  private final double[] weights = new double[BINS];
  private final double[] sums = new double[BINS]; // of weighted numbers

  /**
   * @param x from -1 to 1
   */
  void add(float x, double weight) {
    int bin = Math.clamp((int) ((x + 1) / 2 * BINS), 0, BINS - 1);
    weights[bin] += weight;
    sums[bin] += weight * x;
  }

  /** Returns the levels in rising order, rounded to halves. */
  float[] levels(int count) {
    float[] levels = evenlySpaced(count);
    for (int round = 0; round < ITERATIONS; round++) {
      levels = lloydStep(levels);
    }
    for (int i = 0; i < count; i++) {
      levels[i] = Float.float16ToFloat(Float.floatToFloat16(levels[i]));
    }
    return levels;
  }

  static float[] evenlySpaced(int count) {
    float[] levels = new float[count];
    for (int i = 0; i < count; i++) {
      levels[i] = Float.float16ToFloat(Float.floatToFloat16(2f * i / (count - 1) - 1));
    }
    return levels;
  }

  /** Moves each level to the mean of its nearest numbers. */
  private float[] lloydStep(float[] levels) {
    double[] weight = new double[levels.length];
    double[] sum = new double[levels.length];
    for (int bin = 0; bin < BINS; bin++) {
      int level = nearest(levels, (2f * bin + 1) / BINS - 1);
      weight[level] += weights[bin];
      sum[level] += sums[bin];
    }
    float[] moved = Arrays.copyOf(levels, levels.length);
    for (int i = 0; i < moved.length; i++) {
      moved[i] = weight[i] > 0 ? (float) (sum[i] / weight[i]) : levels[i];
    }
    return moved;
  }

  static int nearest(float[] levels, float x) {
    int level = 0;
    while (level + 1 < levels.length && x > (levels[level] + levels[level + 1]) / 2) {
      level++;
    }
    return level;
  }
}
