package dev.kvasir.lab.mead;

/**
 * Rows quantized to sixteen uniform levels per channel. The range of each channel minimizes the
 * squared error, weighted by the frequency of rows.
 *
 * @param lows (channels)
 * @param steps (channels)
 * @param nibbles (rows, channels)
 */
record NibbleTable(float[] lows, float[] steps, byte[] nibbles) {
  private static final int LEVELS = 16;
  private static final double[] REACHES = {
    1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3, 3.4, 3.8, 4.3, 5, 6, 8, 11
  };

  /**
   * @param rows (count, channels)
   * @param weights weight of each row
   */
  static NibbleTable of(float[] rows, int channels, double[] weights) {
    float[] lows = new float[channels];
    float[] steps = new float[channels];
    byte[] nibbles = new byte[rows.length];
    int count = weights.length;
    for (int c = 0; c < channels; c++) {
      double sum = 0;
      double total = 0;
      for (int r = 0; r < count; r++) {
        sum += weights[r] * rows[r * channels + c];
        total += weights[r];
      }
      double mean = sum / total;
      double squares = 0;
      for (int r = 0; r < count; r++) {
        double away = rows[r * channels + c] - mean;
        squares += weights[r] * away * away;
      }
      double deviation = Math.sqrt(squares / total);
      if (deviation > 0) {
        choose(rows, channels, c, weights, mean, deviation, lows, steps);
      } else {
        lows[c] = (float) mean;
      }
      for (int r = 0; r < count; r++) {
        nibbles[r * channels + c] = (byte) nibble(rows[r * channels + c], lows[c], steps[c]);
      }
    }
    return new NibbleTable(lows, steps, nibbles);
  }

  private static void choose(
      float[] rows,
      int channels,
      int c,
      double[] weights,
      double mean,
      double deviation,
      float[] lows,
      float[] steps) {
    double least = Double.POSITIVE_INFINITY;
    for (double reach : REACHES) {
      float low = (float) (mean - reach * deviation);
      float step = (float) (2 * reach * deviation / (LEVELS - 1));
      double left = 0;
      for (int r = 0; r < weights.length; r++) {
        float x = rows[r * channels + c];
        double away = x - Math.fma(nibble(x, low, step), step, low);
        left += weights[r] * away * away;
      }
      if (left < least) {
        least = left;
        lows[c] = low;
        steps[c] = step;
      }
    }
  }

  private static int nibble(float x, float low, float step) {
    return step == 0 ? 0 : (int) Math.clamp(Math.rint((x - low) / step), 0, LEVELS - 1);
  }

  /** Returns the dequantized element of a row. */
  float value(int row, int channel, int channels) {
    return Math.fma(nibbles[row * channels + channel], steps[channel], lows[channel]);
  }
}
