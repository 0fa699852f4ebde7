package dev.kvasir.methods.kvarn;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * Finds a factor for each token and each channel of a head's page. Division by them equalizes the
 * deviations of tokens and of channels, as in Sinkhorn normalization.
 *
 * @param rounds maximum number of rounds; the best one counts
 */
record VarianceNormalizer(int rounds) {
  private static final int TOKENS = Page.TOKENS;

  /** Bounds deviations and log factors to the range in which halves are precise. */
  private static final double MIN_DEVIATION = 1e-3;

  private static final double MAX_DEVIATION = 1e3;
  private static final double MIN_LOG = -8;
  private static final double MAX_LOG = 8;

  /** Replaces a deviation of zero as a divisor. */
  private static final double EPSILON = 1e-8;

  /**
   * Factors rounded to halves.
   *
   * @param tokens (TOKENS)
   * @param channels (channels)
   */
  record Factors(double[] tokens, double[] channels) {}

  /**
   * @param x (TOKENS, channels) from {@code at} on
   */
  Factors of(float[] x, int at, int channels) {
    double[] tokenLogs = new double[TOKENS];
    double[] channelLogs = new double[channels];
    double[] z = toUnitMeanSquare(x, at, TOKENS * channels);
    double[] y = z.clone();
    Factors best = factors(tokenLogs, channelLogs);
    double least = imbalance(y, channels);
    for (int round = 0; round < rounds; round++) {
      addLogDeviations(tokenLogs, deviations(y, channels, true));
      divide(z, tokenLogs, channelLogs, y);
      addLogDeviations(channelLogs, deviations(y, channels, false));
      divide(z, tokenLogs, channelLogs, y);
      double imbalance = imbalance(y, channels);
      if (imbalance <= least) {
        least = imbalance;
        best = factors(tokenLogs, channelLogs);
      }
    }
    return best;
  }

  /** Scales numbers to a mean square of one, so that all heads share the bounds of factors. */
  private static double[] toUnitMeanSquare(float[] x, int at, int count) {
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += (double) x[i] * x[i];
    }
    double unit = Math.max(Math.sqrt(sum / count), EPSILON);
    double[] z = new double[count];
    Arrays.setAll(z, i -> x[at + i] / unit);
    return z;
  }

  private static Factors factors(double[] tokenLogs, double[] channelLogs) {
    return new Factors(halves(tokenLogs), halves(channelLogs));
  }

  /** Rounds factors to halves as they are stored, so that division and multiplication match. */
  private static double[] halves(double[] logs) {
    return Arrays.stream(logs)
        .map(log -> Float.float16ToFloat(Float.floatToFloat16((float) StrictMath.exp(log))))
        .toArray();
  }

  private static void addLogDeviations(double[] logs, double[] deviations) {
    for (int i = 0; i < logs.length; i++) {
      double deviation = Math.clamp(deviations[i], MIN_DEVIATION, MAX_DEVIATION);
      logs[i] = Math.clamp(logs[i] + StrictMath.log(deviation), MIN_LOG, MAX_LOG);
    }
  }

  private static void divide(double[] z, double[] tokenLogs, double[] channelLogs, double[] y) {
    int channels = channelLogs.length;
    double[] byChannel = Arrays.stream(channelLogs).map(log -> StrictMath.exp(-log)).toArray();
    for (int token = 0; token < TOKENS; token++) {
      double byToken = StrictMath.exp(-tokenLogs[token]);
      for (int i = 0; i < channels; i++) {
        y[token * channels + i] = z[token * channels + i] * byToken * byChannel[i];
      }
    }
  }

  /** Returns the ratio of the largest to the smallest deviation, of tokens plus of channels. */
  private static double imbalance(double[] y, int channels) {
    return ratio(deviations(y, channels, true)) + ratio(deviations(y, channels, false));
  }

  private static double ratio(double[] deviations) {
    double most = Arrays.stream(deviations).max().orElseThrow();
    return most / Math.max(Arrays.stream(deviations).min().orElseThrow(), EPSILON);
  }

  private static double[] deviations(double[] y, int channels, boolean ofTokens) {
    int count = ofTokens ? TOKENS : channels;
    double[] sums = new double[count];
    double[] squares = new double[count];
    for (int i = 0; i < y.length; i++) {
      int owner = ofTokens ? i / channels : i % channels;
      sums[owner] += y[i];
      squares[owner] += y[i] * y[i];
    }
    int numbers = y.length / count;
    double[] deviations = new double[count];
    for (int i = 0; i < count; i++) {
      double variance = (squares[i] - sums[i] * sums[i] / numbers) / (numbers - 1);
      deviations[i] = Math.sqrt(Math.max(variance, 0));
    }
    return deviations;
  }
}
