package dev.kvasir.codec.pattern;

/**
 * The pattern that leaves the smallest range over the channels of a residual: {@code argmin over m
 * of max_i(x_i - m_i) - min_i(x_i - m_i)}.
 */
final class NearestPattern {
  /** Channels between two looks at whether a pattern can still win. */
  private static final int STRIDE = 16;

  /**
   * Residuals at the most: a pair of channels may be turned into one, by a root of two, and must
   * stay a half, the largest of which is 65504.
   */
  private static final float MOST = 46_000;

  private final float[] patterns; // (count, headDim)
  private final int count;
  private final int headDim;
  private float least;
  private float most;

  NearestPattern(float[] patterns, int count, int headDim) {
    this.patterns = patterns;
    this.count = count;
    this.headDim = headDim;
  }

  /**
   * Answers a pattern's index, or {@link Patterns#NONE}.
   *
   * @param largestRatio of the residual's range to the vector's, above which there is none
   */
  int of(float[] x, int at, double largestRatio) {
    int best = Patterns.NONE;
    float bestRange = Float.POSITIVE_INFINITY;
    for (int pattern = 0; pattern < count; pattern++) {
      if (spans(x, at, pattern * headDim, bestRange) && least >= -MOST && most <= MOST) {
        best = pattern;
        bestRange = most - least;
      }
    }
    if (largestRatio == Double.POSITIVE_INFINITY || best == Patterns.NONE) {
      return best;
    }
    return bestRange <= largestRatio * range(x, at) ? best : Patterns.NONE;
  }

  /** Sets the least and the most residual; answers whether their range is below a bound. */
  private boolean spans(float[] x, int at, int pattern, float bound) {
    float low = Float.POSITIVE_INFINITY;
    float high = Float.NEGATIVE_INFINITY;
    for (int from = 0; from < headDim; from += STRIDE) {
      int end = Math.min(from + STRIDE, headDim);
      for (int i = from; i < end; i++) {
        float residual = x[at + i] - patterns[pattern + i];
        low = Math.min(low, residual);
        high = Math.max(high, residual);
      }
      if (high - low >= bound) {
        return false;
      }
    }
    least = low;
    most = high;
    return true;
  }

  private float range(float[] x, int at) {
    float low = Float.POSITIVE_INFINITY;
    float high = Float.NEGATIVE_INFINITY;
    for (int i = at; i < at + headDim; i++) {
      low = Math.min(low, x[i]);
      high = Math.max(high, x[i]);
    }
    return high - low;
  }
}
