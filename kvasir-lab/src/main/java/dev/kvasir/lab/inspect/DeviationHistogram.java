package dev.kvasir.lab.inspect;

/** A histogram of numbers in standard deviations, from -4 to 4. */
public final class DeviationHistogram {
  public static final int BINS = 80;
  public static final double RANGE = 4;

  private final long[] counts = new long[BINS];
  private long all;

  /** Adds numbers, measured in standard deviations of the second array. */
  void add(float[] x, float[] measure) {
    double sum = 0;
    double squares = 0;
    for (float value : measure) {
      sum += value;
      squares += (double) value * value;
    }
    double mean = sum / measure.length;
    double deviation = Math.sqrt(Math.max(0, squares / measure.length - mean * mean));
    if (deviation == 0) {
      return;
    }
    for (float value : x) {
      double bin = (value / deviation + RANGE) / (2 * RANGE) * BINS;
      if (bin >= 0 && bin < BINS) {
        counts[(int) bin]++;
      }
      all++;
    }
  }

  /** Returns the density per standard deviation in each bin: (BINS). */
  public double[] density() {
    double[] density = new double[BINS];
    for (int i = 0; i < BINS && all > 0; i++) {
      density[i] = counts[i] * BINS / (2 * RANGE) / all;
    }
    return density;
  }
}
