package dev.kvasir.codec.patternkv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.ScalarKernels;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NearestPatternTest {
  private static final double ANY = Double.POSITIVE_INFINITY;

  @Test
  void theSmallestRangeWins() {
    Random random = new Random(8);
    for (int headDim : new int[] {4, 20, 64, 80}) {
      float[] patterns = gaussian(random, 40 * headDim);
      NearestPattern nearest =
          new NearestPattern(new ScalarKernels(), patterns, 40, headDim, PatternChoice.RANGE);
      for (int trial = 0; trial < 50; trial++) {
        float[] x = gaussian(random, headDim);
        int found = nearest.nearest(x, 0, ANY);
        for (int pattern = 0; pattern < 40; pattern++) {
          assertThat(range(x, patterns, found)).isLessThanOrEqualTo(range(x, patterns, pattern));
        }
      }
    }
  }

  /** The residuals are (3, 3, 3, 3), (5, 0, 0, 0) and (0, 4, 4, 0). */
  @Test
  void everyChoicePrefersAnotherPattern() {
    float[] x = {5, 4, 4, 0};
    float[] patterns = {2, 1, 1, -3, 0, 4, 4, 0, 5, 0, 0, 0};
    assertThat(chosen(patterns, PatternChoice.RANGE, x)).isZero();
    assertThat(chosen(patterns, PatternChoice.DISTANCE, x)).isEqualTo(1);
    assertThat(chosen(patterns, PatternChoice.PEAKS, x)).isZero();
    float[] others = {0, 4, 4, 0, 5, 0, 0, 0};
    assertThat(chosen(others, PatternChoice.PEAKS, x)).isEqualTo(1);
  }

  private static int chosen(float[] patterns, PatternChoice choice, float[] x) {
    return new NearestPattern(
            new ScalarKernels(), patterns, patterns.length / x.length, x.length, choice)
        .nearest(x, 0, ANY);
  }

  /** The range of the vector is 8; the patterns reduce it to 2 and 6. */
  @Test
  void aPatternThatFlattensTooLittleIsNotUsed() {
    float[] x = {0, 2, 4, 8};
    NearestPattern nearest =
        new NearestPattern(
            new ScalarKernels(), new float[] {0, 0, 2, 6, 0, 0, 0, 2}, 2, 4, PatternChoice.RANGE);
    assertThat(nearest.nearest(x, 0, 0.25)).isZero();
    assertThat(nearest.nearest(x, 0, 0.24)).isEqualTo(PatternSet.NONE);
    NearestPattern worse =
        new NearestPattern(
            new ScalarKernels(), new float[] {0, 0, 0, 2}, 1, 4, PatternChoice.RANGE);
    assertThat(worse.nearest(x, 0, 0.75)).isZero();
    assertThat(worse.nearest(x, 0, 0.74)).isEqualTo(PatternSet.NONE);
    assertThat(worse.nearest(x, 0, -1)).isEqualTo(PatternSet.NONE);
  }

  /** A residual of 120,000 does not fit in fp16. */
  @Test
  void aPatternTooFarAwayIsNotUsed() {
    float[] x = {60_000, 60_000, 60_000, 60_000};
    NearestPattern nearest =
        new NearestPattern(
            new ScalarKernels(),
            new float[] {-60_000, -60_000, -60_000, -60_000},
            1,
            4,
            PatternChoice.RANGE);
    assertThat(nearest.nearest(x, 0, ANY)).isEqualTo(PatternSet.NONE);
  }

  private static float range(float[] x, float[] patterns, int pattern) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < x.length; i++) {
      float residual = x[i] - patterns[pattern * x.length + i];
      least = Math.min(least, residual);
      most = Math.max(most, residual);
    }
    return most - least;
  }

  private static float[] gaussian(Random random, int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
