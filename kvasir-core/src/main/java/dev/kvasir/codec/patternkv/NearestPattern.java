package dev.kvasir.codec.patternkv;

/**
 * The pattern that leaves least of a vector, by its {@link PatternChoice}. By range it is {@code
 * argmin over m of max_i(x_i - m_i) - min_i(x_i - m_i)}.
 */
final class NearestPattern {
  /** Channels between two looks at whether a pattern can still win. */
  private static final int STRIDE = 16;

  /**
   * Residuals at the most: a pair of channels may be turned into one, by a root of two, and must
   * stay a half, the largest of which is 65504.
   */
  private static final float MOST = 46_000;

  private final PatternChoice choice;
  private final float[] patterns; // (count, headDim)
  private final int count;
  private final int headDim;
  private float least;
  private float most;

  NearestPattern(float[] patterns, int count, int headDim, PatternChoice choice) {
    this.choice = choice;
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
    return choice == PatternChoice.RANGE
        ? byRange(x, at, largestRatio)
        : byPowers(x, at, largestRatio);
  }

  private int byPowers(float[] x, int at, double largestRatio) {
    int best = Patterns.NONE;
    float smallest = Float.POSITIVE_INFINITY;
    for (int pattern = 0; pattern < count; pattern++) {
      float sum = powers(x, at, pattern * headDim);
      if (sum < smallest) {
        smallest = sum;
        best = pattern;
      }
    }
    return best != Patterns.NONE && fits(x, at, best, largestRatio) ? best : Patterns.NONE;
  }

  private float powers(float[] x, int at, int pattern) {
    boolean fourth = choice == PatternChoice.PEAKS;
    float sum = 0;
    for (int i = 0; i < headDim; i++) {
      float residual = x[at + i] - patterns[pattern + i];
      float square = residual * residual;
      sum += fourth ? square * square : square;
    }
    return sum;
  }

  private boolean fits(float[] x, int at, int pattern, double largestRatio) {
    return spans(x, at, pattern * headDim, Float.POSITIVE_INFINITY)
        && least >= -MOST
        && most <= MOST
        && (largestRatio == Double.POSITIVE_INFINITY
            || most - least <= largestRatio * range(x, at));
  }

  private int byRange(float[] x, int at, double largestRatio) {
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
