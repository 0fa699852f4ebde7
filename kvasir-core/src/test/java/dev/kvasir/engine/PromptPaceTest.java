package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps of a machine that is made up: what they take is known, and no clock is asked. */
class PromptPaceTest {
  private static final int STEPS = 2000;

  private final PromptPace pace = new PromptPace();
  private final Random random = new Random(7);
  private int plainSteps;

  /** Times of steps with prompts, after the pace had as many to learn from. */
  private double[] run(int decoding, IntToDoubleFunction nanosOfRows) {
    double[] times = new double[STEPS];
    plainSteps = 0;
    for (int i = -STEPS; i < STEPS; ) {
      int reading = pace.mustSeeUsual() ? 0 : pace.rowsBeside(decoding);
      double nanos = nanosOfRows.applyAsDouble(decoding + reading);
      pace.took(decoding, reading, (long) nanos);
      if (reading == 0) {
        plainSteps++;
      } else {
        if (i >= 0) {
          times[i] = nanos;
        }
        i++;
      }
    }
    return times;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "2, 8", "30, 1", "30, 64"})
  void stepsWithPromptsTakeTwiceAsLongWhateverARowCosts(int base, int decoding) {
    double[] times = run(decoding, rows -> 1000.0 * (base + rows));
    double oneRow = 1.0 / (base + decoding);
    assertThat(median(times) / (1000.0 * (base + decoding))).isBetween(1.9 - oneRow, 2.1 + oneRow);
  }

  @Test
  void stepsThatTheMachineDisturbsChangeLittle() {
    double[] times = run(1, rows -> 1000.0 * (20 + rows) * (random.nextInt(4) == 0 ? 10 : 1));
    assertThat(median(times) / 21_000).isBetween(1.6, 2.5);
  }

  @Test
  void whatWasLearnedOfASlowMachineIsForgottenOnAFastOne() {
    run(1, rows -> 50_000.0 * (3 + 10 * rows));
    double[] times = run(1, rows -> 1000.0 * (40 + rows));
    assertThat(median(times) / 41_000).isBetween(1.7, 2.3);
  }

  @Test
  void promptsAreReadOnWhereEvenOneRowIsTooMany() {
    assertThat(run(1, rows -> 1000.0 * (rows == 1 ? 1 : 100 * rows))).containsOnly(200_000);
  }

  @Test
  void fewStepsGoWithoutPromptsThatWait() {
    run(4, rows -> 1000.0 * (10 + rows));
    assertThat(plainSteps).isBetween(2 * STEPS / 40, 2 * STEPS / 30);
  }
}
