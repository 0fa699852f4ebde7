package dev.kvasir.codec.commvq;

/**
 * Normalizes a token's values for the network. Sums are in double precision and in the order of
 * channels, so that codes are the same on every processor.
 *
 * <pre>
 * u = x / channel scales,   length = |u|,   y = u / length
 * n = (y - mean of y) / sqrt(variance of y + 1e-5)
 * </pre>
 */
public final class EncoderInput {
  /** Added to every divisor, as in the published code; released weights are trained with it. */
  public static final float EPSILON = 1e-6f;

  private static final double VARIANCE_EPSILON = 1e-5;

  private EncoderInput() {}

  /**
   * Normalizes one token.
   *
   * @param x (width) from {@code at} on
   * @param channelScales (width)
   * @param out (width) from {@code to} on, set to n
   * @return the length that was divided out
   */
  public static float normalize(float[] x, int at, float[] channelScales, float[] out, int to) {
    int width = channelScales.length;
    double square = 0;
    double sum = 0;
    for (int i = 0; i < width; i++) {
      float u = x[at + i] / (channelScales[i] + EPSILON);
      out[to + i] = u;
      square += (double) u * u;
      sum += u;
    }
    double length = Math.sqrt(square);
    double divisor = length + EPSILON;
    double mean = sum / divisor / width;
    double deviation = deviation(out, to, width, divisor, mean);
    for (int i = to; i < to + width; i++) {
      out[i] = (float) ((out[i] / divisor - mean) / deviation);
    }
    return (float) length;
  }

  private static double deviation(float[] u, int at, int width, double divisor, double mean) {
    double variance = 0;
    for (int i = at; i < at + width; i++) {
      double distance = u[i] / divisor - mean;
      variance += distance * distance;
    }
    return Math.sqrt(variance / width + VARIANCE_EPSILON);
  }
}
