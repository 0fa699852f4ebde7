package dev.kvasir.page;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The Lloyd-Max quantization levels of a coordinate of a random unit vector, which minimize the
 * squared error. Its density in d dimensions is (1 - x^2)^((d - 3) / 2), and each level is the mean
 * of the values nearest to it. Levels are computed once per width and dimension, with the same bits
 * on every machine.
 */
final class LloydMaxLevels {
  static final int MAX_BITS = 4;
  static final int MIN_DIMENSIONS = 4;
  static final int MAX_DIMENSIONS = HeadShape.MAX_CHANNELS;

  private static final AtomicReferenceArray<float[]> KNOWN =
      new AtomicReferenceArray<>(MAX_BITS * (MAX_DIMENSIONS + 1));

  /** Points at which the density of one half is summed. */
  private static final int POINTS = 8192;

  /** Standard deviations beyond which the density is negligible. */
  private static final double REACH = 8;

  private static final int ROUNDS = 2000;

  private final int dimensions;
  private final double end;
  private final double[] mass = new double[POINTS + 1]; // cumulative from 0
  private final double[] moment = new double[POINTS + 1];

  private LloydMaxLevels(int dimensions) {
    this.dimensions = dimensions;
    this.end = Math.min(1, REACH / Math.sqrt(dimensions));
    double step = end / POINTS;
    for (int i = 0; i < POINTS; i++) {
      double x = (i + 0.5) * step;
      double density = StrictMath.pow(1 - x * x, (dimensions - 3) / 2.0);
      mass[i + 1] = mass[i] + density;
      moment[i + 1] = moment[i] + density * x;
    }
  }

  /** Returns the levels in ascending order, indexed by code. // (2^bits) */
  static float[] of(int bits, int dimensions) {
    int place = (bits - 1) * (MAX_DIMENSIONS + 1) + dimensions;
    float[] known = KNOWN.get(place);
    if (known == null) {
      known = new LloydMaxLevels(dimensions).levels(bits);
      KNOWN.set(place, known);
    }
    return known;
  }

  private float[] levels(int bits) {
    double[] positive = positive(1 << bits - 1);
    int half = positive.length;
    float[] levels = new float[2 * half];
    for (int i = 0; i < half; i++) {
      levels[half + i] = (float) positive[i];
      levels[half - 1 - i] = (float) -positive[i];
    }
    return levels;
  }

  /** Returns the positive levels; the density and the levels are symmetric. */
  private double[] positive(int count) {
    double[] levels = new double[count];
    double reach = Math.min(end, 3 / Math.sqrt(dimensions));
    Arrays.setAll(levels, i -> (i + 0.5) * reach / count);
    for (int round = 0; round < ROUNDS; round++) {
      double from = 0;
      double[] next = new double[count];
      for (int i = 0; i < count; i++) {
        double to = i + 1 < count ? (levels[i] + levels[i + 1]) / 2 : end;
        next[i] = (sum(moment, to) - sum(moment, from)) / (sum(mass, to) - sum(mass, from));
        from = to;
      }
      levels = next;
    }
    return levels;
  }

  private double sum(double[] sums, double x) {
    double place = x / end * POINTS;
    int before = Math.min((int) place, POINTS - 1);
    return sums[before] + (place - before) * (sums[before + 1] - sums[before]);
  }
}
