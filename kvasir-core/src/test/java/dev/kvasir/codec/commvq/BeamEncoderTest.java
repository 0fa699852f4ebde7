package dev.kvasir.codec.commvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.ScalarKernels;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BeamEncoderTest {
  private static final int ROWS = AdditiveStages.ROWS;
  private static final int LENGTH = 12;

  /** More than a batch, and not a multiple of it. */
  private static final int COUNT = 150;

  private final Random random = new Random(5);

  @Test
  void oneStageFindsTheNearestCenter() {
    AdditiveStages stages = stages(1);
    float[] x = gaussian(COUNT * LENGTH, 1);
    short[] codes = encode(stages, 1, x);
    for (int i = 0; i < COUNT; i++) {
      double nearest = Double.POSITIVE_INFINITY;
      for (int code = 0; code < ROWS * ROWS; code++) {
        nearest = Math.min(nearest, error(stages, x, i, new short[] {(short) code}, 0));
      }
      assertThat(error(stages, x, i, codes, i)).isCloseTo(nearest, within(1e-4));
    }
  }

  /** A beam as wide as the number of centers never drops a sum. */
  @Test
  void theWidestBeamFindsTheNearestSumOfTwoStages() {
    AdditiveStages stages = stages(2);
    float[] x = gaussian(2 * LENGTH, 1);
    short[] codes = new short[2 * 2];
    new BeamEncoder(new ScalarKernels(), ROWS * ROWS).encode(stages, x, 0, 2, codes, 0);
    for (int i = 0; i < 2; i++) {
      assertThat(error(stages, x, i, codes, i))
          .isCloseTo(nearestOfTwoStages(stages, x, i), within(1e-4));
    }
  }

  /** Returns the smallest error over the best second stage for each center of the first. */
  private static double nearestOfTwoStages(AdditiveStages stages, float[] x, int i) {
    float[] second = new float[2 * ROWS * LENGTH];
    System.arraycopy(stages.rows(), 2 * ROWS * LENGTH, second, 0, second.length);
    AdditiveStages last = new AdditiveStages(1, LENGTH, second);
    BeamEncoder greedy = new BeamEncoder(new ScalarKernels(), 1);
    double nearest = Double.POSITIVE_INFINITY;
    short[] codes = new short[2];
    float[] left = new float[LENGTH];
    for (int code = 0; code < ROWS * ROWS; code++) {
      codes[0] = (short) code;
      for (int d = 0; d < LENGTH; d++) {
        left[d] =
            x[i * LENGTH + d]
                - stages.rows()[stages.firstAt(0, AdditiveStages.first(code)) + d]
                - stages.rows()[stages.secondAt(0, AdditiveStages.second(code)) + d];
      }
      greedy.encode(last, left, 0, 1, codes, 1);
      nearest = Math.min(nearest, error(stages, x, i, codes, 0));
    }
    return nearest;
  }

  @Test
  void widerBeamHasLessError() {
    AdditiveStages stages = stages(4);
    float[] x = gaussian(COUNT * LENGTH, 1);
    double before = Double.POSITIVE_INFINITY;
    for (int width : new int[] {1, 2, 4, 8}) {
      double error = meanError(stages, x, encode(stages, width, x));
      assertThat(error).as("width %d", width).isLessThan(before);
      before = error;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void sumOfRowsIsRecovered(int width) {
    AdditiveStages stages = stages(3);
    short[] planted = new short[COUNT * 3];
    float[] x = new float[COUNT * LENGTH];
    for (int i = 0; i < COUNT; i++) {
      for (int stage = 0; stage < 3; stage++) {
        planted[i * 3 + stage] = (short) random.nextInt(ROWS * ROWS);
      }
      stages.decode(planted, i * 3, x, i * LENGTH);
    }
    // Later stages are small compared to earlier ones, so a greedy choice is right.
    double error = meanError(stages, x, encode(stages, width, x));
    assertThat(error).isLessThan(0.02);
  }

  @Test
  void codesAreWrittenAtTheOffset() {
    AdditiveStages stages = stages(2);
    float[] x = gaussian(3 * LENGTH, 1);
    short[] all = new short[3 * 2];
    short[] two = new short[1 + 2 * 2];
    new BeamEncoder(new ScalarKernels(), 2).encode(stages, x, 0, 3, all, 0);
    new BeamEncoder(new ScalarKernels(), 2).encode(stages, x, LENGTH, 2, two, 1);
    for (int i = 0; i < 4; i++) {
      assertThat(two[1 + i]).isEqualTo(all[2 + i]);
    }
  }

  /** Returns rows that shrink from stage to stage, like trained ones. */
  private AdditiveStages stages(int count) {
    float[] rows = new float[count * 2 * ROWS * LENGTH];
    int block = 2 * ROWS * LENGTH;
    for (int stage = 0; stage < count; stage++) {
      System.arraycopy(gaussian(block, Math.pow(0.5, stage + 0.5)), 0, rows, stage * block, block);
    }
    return new AdditiveStages(count, LENGTH, rows);
  }

  private float[] gaussian(int count, double spread) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) (spread * random.nextGaussian());
    }
    return x;
  }

  private static short[] encode(AdditiveStages stages, int width, float[] x) {
    short[] codes = new short[COUNT * stages.stages()];
    new BeamEncoder(new ScalarKernels(), width).encode(stages, x, 0, COUNT, codes, 0);
    return codes;
  }

  private static double meanError(AdditiveStages stages, float[] x, short[] codes) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
      sum += error(stages, x, i, codes, i);
    }
    return sum / COUNT / LENGTH;
  }

  private static double error(
      AdditiveStages stages, float[] x, int vector, short[] codes, int codeRow) {
    float[] decoded = new float[LENGTH];
    stages.decode(codes, codeRow * stages.stages(), decoded, 0);
    double sum = 0;
    for (int d = 0; d < LENGTH; d++) {
      sum += Math.pow(x[vector * LENGTH + d] - decoded[d], 2);
    }
    return sum;
  }
}
