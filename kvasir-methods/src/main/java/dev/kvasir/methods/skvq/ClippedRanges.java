package dev.kvasir.methods.skvq;

import dev.kvasir.codec.Page;

/**
 * Clips the ranges of a group's tokens. At few bits, clipping loses less at the ends of a range
 * than it gains within. All tokens of a page share one clipping ratio per channel group: that of
 * {@link #SHARES} with the least squared error. A range is clipped around its midpoint. The ratio
 * is not stored; scales include it.
 */
final class ClippedRanges {
  private static final float[] SHARES = {1, 0.95f, 0.9f, 0.85f, 0.8f, 0.75f, 0.7f, 0.6f, 0.5f};

  private final int channels;
  private final int[] group; // channels that share a scale
  private final int highest; // largest code

  /**
   * @param channels channels of a vector
   * @param order order of all channels
   * @param first index of the group's first channel in that order
   * @param end end index of the group
   */
  ClippedRanges(int channels, int[] order, int first, int end, int bits) {
    this.channels = channels;
    this.group = java.util.Arrays.copyOfRange(order, first, end);
    this.highest = (1 << bits) - 1;
  }

  /**
   * @param x (tokens, channels) from {@code at} on, changed in this group
   */
  void clip(float[] x, int at) {
    float best = SHARES[0];
    double least = Double.POSITIVE_INFINITY;
    for (float share : SHARES) {
      double error = 0;
      for (int token = 0; token < Page.TOKENS; token++) {
        error += error(x, at + token * channels, share);
      }
      if (error < least) {
        least = error;
        best = share;
      }
    }
    for (int token = 0; best < 1 && token < Page.TOKENS; token++) {
      clip(x, at + token * channels, best);
    }
  }

  /** Returns the squared error of a token's codes with a clipped range. */
  private double error(float[] x, int at, float share) {
    float most = most(x, at);
    float least = least(x, at);
    float reach = share * (most - least) / 2;
    if (reach == 0) {
      return 0;
    }
    float zero = (most + least) / 2 - reach;
    float step = 2 * reach / highest;
    float perStep = 1 / step;
    double error = 0;
    for (int channel : group) {
      float code = Math.clamp((x[at + channel] - zero) * perStep + 0.5f, 0, highest);
      float difference = x[at + channel] - (zero + (int) code * step);
      error += difference * difference;
    }
    return error;
  }

  private void clip(float[] x, int at, float share) {
    float most = most(x, at);
    float least = least(x, at);
    float middle = (most + least) / 2;
    float reach = share * (most - least) / 2;
    for (int channel : group) {
      x[at + channel] = Math.clamp(x[at + channel], middle - reach, middle + reach);
    }
  }

  private float most(float[] x, int at) {
    float most = Float.NEGATIVE_INFINITY;
    for (int channel : group) {
      most = Math.max(most, x[at + channel]);
    }
    return most;
  }

  private float least(float[] x, int at) {
    float least = Float.POSITIVE_INFINITY;
    for (int channel : group) {
      least = Math.min(least, x[at + channel]);
    }
    return least;
  }
}
