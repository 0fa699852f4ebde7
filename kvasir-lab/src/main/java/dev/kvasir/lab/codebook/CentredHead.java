package dev.kvasir.lab.codebook;

import dev.kvasir.lab.codebook.VectorSample.Side;

/**
 * The vectors of a head, or of a group of heads, in the form that codebooks quantize: minus their
 * mean, divided by the joint norm of the token's vectors of all heads.
 *
 * @param mean (channels)
 */
record CentredHead(float[] mean, TrainingSet set) {
  /** Returns the squared norm of each token's centered vectors of all heads. */
  static double[] squares(VectorSample sample, Side side, int layer) {
    int headDim = sample.shape().headDim();
    double[] squares = new double[sample.count()];
    for (int kvHead = 0; kvHead < sample.shape().kvHeads(); kvHead++) {
      float[] x = sample.vectors(side, layer, kvHead);
      subtract(x, mean(x, headDim));
      for (int i = 0; i < x.length; i++) {
        squares[i / headDim] += (double) x[i] * x[i];
      }
    }
    return squares;
  }

  /**
   * @param x (count, channels), changed
   * @param squares (count)
   */
  static CentredHead of(int count, int channels, float[] x, double[] squares) {
    float[] mean = mean(x, channels);
    subtract(x, mean);
    for (int i = 0; i < x.length; i++) {
      double square = squares[i / channels];
      x[i] = square == 0 ? 0 : (float) (x[i] / Math.sqrt(square));
    }
    return new CentredHead(mean, new TrainingSet(count, channels, x));
  }

  /**
   * @param x (count, channels)
   */
  static float[] mean(float[] x, int channels) {
    double[] sums = new double[channels];
    for (int i = 0; i < x.length; i++) {
      sums[i % channels] += x[i];
    }
    float[] mean = new float[channels];
    for (int d = 0; d < channels; d++) {
      mean[d] = (float) (sums[d] * channels / Math.max(1, x.length));
    }
    return mean;
  }

  private static void subtract(float[] x, float[] mean) {
    for (int i = 0; i < x.length; i++) {
      x[i] -= mean[i % mean.length];
    }
  }
}
