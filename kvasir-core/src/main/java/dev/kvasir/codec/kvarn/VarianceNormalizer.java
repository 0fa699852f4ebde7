package dev.kvasir.codec.kvarn;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * Divides a head's vectors of a page by a factor for each token and one for each channel, until the
 * deviations of tokens among each other, and of channels, are alike: as Sinkhorn balances sums.
 *
 * @param rounds at the most; the best of them counts
 */
record VarianceNormalizer(int rounds) {
  private static final int TOKENS = Page.TOKENS;

  /** Deviations of a round, and logarithms of factors, are kept where halves have all digits. */
  private static final double MIN_DEVIATION = 1e-3;

  private static final double MAX_DEVIATION = 1e3;
  private static final double MIN_LOG = -8;
  private static final double MAX_LOG = 8;

  /** Stands for a deviation of zero where it divides. */
  private static final double EPSILON = 1e-8;

  /**
   * Factors that fit halves.
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

  /** Numbers of a mean square of one: bounds of factors then are the same for all heads. */
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

  /** As they are stored: what is coded must be divided by what it will be multiplied by. */
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

  /** The ratio of the largest deviation to the least, of tokens and of channels. */
  private static double imbalance(double[] y, int channels) {
    return ratio(deviations(y, channels, true)) + ratio(deviations(y, channels, false));
  }

  private static double ratio(double[] deviations) {
    double most = Arrays.stream(deviations).max().orElseThrow();
    return most / Math.max(Arrays.stream(deviations).min().orElseThrow(), EPSILON);
  }

  /** Of each token over its channels, or of each channel over its tokens. */
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
