package dev.kvasir.lab.rotate;

import dev.kvasir.codec.basis.Clipping;

/** Finds the clipping of a token's range with the smallest quantization error at a bit width. */
final class ClipSearch {
  private static final int TRIALS = 13;
  private static final float STEP = 0.05f;

  private final int dim;
  private final int levels;
  private final double[] errors = new double[TRIALS];

  ClipSearch(int dim, int bits) {
    this.dim = dim;
    this.levels = (1 << bits) - 1;
  }

  private static Clipping trial(int index) {
    return new Clipping(1 - index * STEP);
  }

  /**
   * @param x (vectors, dim), in the form that is quantized
   */
  void add(float[] x) {
    for (int trial = 0; trial < TRIALS; trial++) {
      float[] cut = x.clone();
      trial(trial).clip(cut, 0, x.length / dim, dim, dim);
      for (int at = 0; at < x.length; at += dim) {
        errors[trial] += error(x, cut, at);
      }
    }
  }

  private double error(float[] x, float[] cut, int at) {
    float low = Float.POSITIVE_INFINITY;
    float high = Float.NEGATIVE_INFINITY;
    for (int i = at; i < at + dim; i++) {
      low = Math.min(low, cut[i]);
      high = Math.max(high, cut[i]);
    }
    double step = (high - low) / (double) levels;
    double sum = 0;
    for (int i = at; i < at + dim; i++) {
      double restored = step == 0 ? low : low + step * Math.rint((cut[i] - low) / step);
      sum += (x[i] - restored) * (x[i] - restored);
    }
    return sum;
  }

  Clipping best() {
    int best = 0;
    for (int trial = 1; trial < TRIALS; trial++) {
      if (errors[trial] < errors[best]) {
        best = trial;
      }
    }
    return trial(best);
  }
}
