package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;

/**
 * Finds the pattern with the smallest residual by a {@link PatternChoice}. By range it is {@code
 * argmin over m of max_i(x_i - m_i) - min_i(x_i - m_i)}.
 */
final class NearestPattern {
  /**
   * The largest allowed residual. Rotation may grow a channel by a factor of sqrt(2), and the
   * result must fit in fp16, whose maximum is 65504.
   */
  private static final float MAX_RESIDUAL = 46_000;

  private final PatternChoice choice;
  private final float[] patterns; // (count, headDim)
  private final int count;
  private final int headDim;
  private final Kernels kernels;
  private final float[] min; // (count), of the residuals
  private final float[] max; // (count), of the residuals
  private final RowBlock patternRows = new RowBlock();

  NearestPattern(Kernels kernels, float[] patterns, int count, int headDim, PatternChoice choice) {
    this.kernels = kernels;
    this.choice = choice;
    this.patterns = patterns;
    this.count = count;
    this.headDim = headDim;
    this.min = new float[count];
    this.max = new float[count];
  }

  /**
   * Returns the index of the nearest pattern, or {@link PatternSet#NONE}.
   *
   * @param largestRatio maximum ratio of the residual's range to the vector's, above which there is
   *     none
   */
  int nearest(float[] x, int at, double largestRatio) {
    return choice == PatternChoice.RANGE
        ? byRange(x, at, largestRatio)
        : byPowers(x, at, largestRatio);
  }

  private int byPowers(float[] x, int at, double largestRatio) {
    int best = PatternSet.NONE;
    float smallest = Float.POSITIVE_INFINITY;
    for (int pattern = 0; pattern < count; pattern++) {
      float sum = powers(x, at, pattern * headDim);
      if (sum < smallest) {
        smallest = sum;
        best = pattern;
      }
    }
    return best != PatternSet.NONE && fits(x, at, best, largestRatio) ? best : PatternSet.NONE;
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
    patternRows.set(patterns, pattern * headDim, headDim, 1, headDim);
    kernels.patterns().residualRanges(x, at, patternRows, min, max);
    return fitsHalf(0) && flattens(max[0] - min[0], x, at, largestRatio);
  }

  private boolean fitsHalf(int index) {
    return min[index] >= -MAX_RESIDUAL && max[index] <= MAX_RESIDUAL;
  }

  private boolean flattens(float range, float[] x, int at, double largestRatio) {
    return largestRatio == Double.POSITIVE_INFINITY || range <= largestRatio * range(x, at);
  }

  private int byRange(float[] x, int at, double largestRatio) {
    patternRows.set(patterns, count, headDim);
    kernels.patterns().residualRanges(x, at, patternRows, min, max);
    int best = PatternSet.NONE;
    float bestRange = Float.POSITIVE_INFINITY;
    for (int pattern = 0; pattern < count; pattern++) {
      if (max[pattern] - min[pattern] < bestRange && fitsHalf(pattern)) {
        best = pattern;
        bestRange = max[pattern] - min[pattern];
      }
    }
    return best != PatternSet.NONE && flattens(bestRange, x, at, largestRatio)
        ? best
        : PatternSet.NONE;
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
