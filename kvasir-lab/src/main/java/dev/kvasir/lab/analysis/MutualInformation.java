package dev.kvasir.lab.analysis;

import java.util.Random;

/**
 * The mutual information of two vectors over their channels, in nats: how much the numbers of one
 * tell about the numbers of the other in the same channel. The paper of PatternKV names no
 * estimator; this is the plain histogram of pairs. It is biased upward by about {@code (BINS - 1)^2
 * / (2 channels)}, which {@link #ofShuffled} shows.
 */
public final class MutualInformation {
  static final int BINS = 8;

  private MutualInformation() {}

  /** Returns the information that channels share. */
  public static double of(float[] x, float[] y) {
    int[] binsOfX = bins(x);
    int[] binsOfY = bins(y);
    double[][] joint = new double[BINS][BINS];
    double[] ofX = new double[BINS];
    double[] ofY = new double[BINS];
    double each = 1.0 / x.length;
    for (int i = 0; i < x.length; i++) {
      joint[binsOfX[i]][binsOfY[i]] += each;
      ofX[binsOfX[i]] += each;
      ofY[binsOfY[i]] += each;
    }
    double sum = 0;
    for (int i = 0; i < BINS; i++) {
      for (int j = 0; j < BINS; j++) {
        if (joint[i][j] > 0) {
          sum += joint[i][j] * Math.log(joint[i][j] / (ofX[i] * ofY[j]));
        }
      }
    }
    return sum;
  }

  /** Returns the same with the channels of one vector in random order: what chance alone gives. */
  public static double ofShuffled(float[] x, float[] y, long seed) {
    float[] shuffled = y.clone();
    Random random = new Random(seed);
    for (int i = shuffled.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      float kept = shuffled[i];
      shuffled[i] = shuffled[other];
      shuffled[other] = kept;
    }
    return of(x, shuffled);
  }

  /** Bins of equal width over the range of the vector. */
  private static int[] bins(float[] x) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (float value : x) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    int[] bins = new int[x.length];
    for (int i = 0; i < x.length && most > least; i++) {
      bins[i] = Math.min(BINS - 1, (int) (BINS * (x[i] - least) / (most - least)));
    }
    return bins;
  }
}
