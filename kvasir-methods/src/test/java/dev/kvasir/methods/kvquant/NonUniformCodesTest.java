package dev.kvasir.methods.kvquant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.methods.kvquant.NonUniformCodes.Outliers;
import dev.kvasir.page.CodeScratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NonUniformCodesTest {
  private static final int VECTORS = 12;
  private static final int LENGTH = 128;

  @Test
  void fittedLevelsHaveLessErrorThanEvenOnes() {
    float[] x = gaussian();
    assertThat(error(x, LevelPlacement.FITTED, 0))
        .isLessThan(0.8 * error(x, LevelPlacement.EVEN, 0));
  }

  @Test
  void outliersDoNotStretchTheRange() {
    float[] x = gaussian();
    for (int vector = 0; vector < VECTORS; vector++) {
      x[vector * LENGTH + 7 * vector] = vector % 2 == 0 ? 40 : -40;
    }
    assertThat(error(x, LevelPlacement.EVEN, 1))
        .isLessThan(1.05 * error(gaussian(), LevelPlacement.EVEN, 0));
  }

  @Test
  void theFarthestNumbersAreOutliers() {
    float[] x = {1, 2, 9, 1.5f, -20, 2.5f, 1, 1.2f};
    assertThat(Outliers.of(x, 0, x.length, 2)).containsExactly(2, 4);
    assertThat(Outliers.of(x, 0, x.length, 1)).containsExactly(4);
    assertThat(Outliers.of(x, 0, x.length, 0)).isEmpty();
  }

  /** Returns the mean squared quantization error. */
  private static double error(float[] x, LevelPlacement fit, int outliers) {
    NonUniformCodes codes = new NonUniformCodes(VECTORS, LENGTH, 2, outliers, fit);
    float[] back = new float[x.length];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(codes.bytes());
      codes.quantize(new CodeScratch(), x.clone(), bytes, 0);
      codes.expand(new CodeScratch(), new float[NonUniformCodes.MAX_LEVELS], bytes, 0, back);
    }
    double sum = 0;
    for (int i = 0; i < x.length; i++) {
      sum += Math.pow(x[i] - back[i], 2);
    }
    return sum / x.length;
  }

  private static float[] gaussian() {
    Random random = new Random(5);
    float[] x = new float[VECTORS * LENGTH];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian() + i / LENGTH;
    }
    return x;
  }
}
