package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps on a simulated machine with known times; no clock is used. */
class PrefillBudgetTest {
  private static final int STEPS = 2000;
  private static final int PROMPT = 2048;

  private final PrefillBudget prefillBudget = new PrefillBudget();
  private final Random random = new Random(7);
  private int plainSteps;
  private int past; // of the prompt in prefill

  /** Returns the time of a step. */
  private interface Machine {
    double nanos(int decoding, int promptRows, int past);
  }

  private int plan(int decoding, int rows, long late, double free) {
    prefillBudget.plan(decoding, rows, late, free);
    int promptRows = prefillBudget.rowsFor(past);
    prefillBudget.add(promptRows, past);
    return promptRows;
  }

  /**
   * Prefills prompts one after another next to decoding requests. Returns the times of steps with
   * prompts, after as many others to learn from.
   */
  private double[] run(int decoding, int promptTokens, Machine machine) {
    double[] times = new double[STEPS];
    plainSteps = 0;
    for (int i = -STEPS; i < STEPS; ) {
      int promptRows = plan(decoding, decoding, 0, 1);
      double nanos = machine.nanos(decoding, promptRows, past);
      prefillBudget.recordStep((long) nanos);
      past = (past + promptRows) % promptTokens;
      if (promptRows == 0) {
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

  /** Lets the budget learn the costs of steps, with a recent usual time. */
  private void learn() {
    run(1, PROMPT, (rows, more, _) -> 1000.0 * (20 + rows + more));
    int promptRows;
    do {
      promptRows = plan(1, 1, 0, 1);
      prefillBudget.recordStep(21_000 + 1000 * promptRows);
    } while (promptRows > 0);
  }

  private static double at(double share, double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) (share * (sorted.length - 1))];
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "2, 8", "30, 1", "30, 64"})
  void stepsWithPromptsTakeTwiceAsLongWhateverARowCosts(int base, int decoding) {
    double[] times = run(decoding, PROMPT, (rows, more, _) -> 1000.0 * (base + rows + more));
    double oneRow = 1.0 / (base + decoding);
    double usual = 1000.0 * (base + decoding);
    assertThat(at(0.5, times) / usual).isBetween(1.85 - oneRow, 2.0 + oneRow);
    assertThat(at(1, times) / usual).isLessThan(2.2 + oneRow);
  }

  /** The last rows of a prompt cost five times as much as the first ones. */
  @Test
  void noStepIsLongWhereAttentionIsMostOfARow() {
    double[] times =
        run(1, PROMPT, (rows, more, past) -> 1000.0 * (40 + rows + more * (1 + past / 512.0)));
    assertThat(at(0.5, times) / 41_000).isBetween(1.7, 2.0);
    assertThat(at(1, times) / 41_000).isLessThan(2.3);
  }

  @Test
  void stepsThatTheMachineDisturbsChangeLittle() {
    double[] times =
        run(
            1,
            PROMPT,
            (rows, more, _) -> 1000.0 * (19 + rows + more) * (random.nextInt(8) == 0 ? 10 : 1));
    assertThat(at(0.5, times) / 20_000).isBetween(1.3, 2.2);
  }

  @Test
  void fewStepsAreLongOnAMachineWithOtherWork() {
    double[] times =
        run(
            1,
            PROMPT,
            (rows, more, _) -> 1000.0 * (19 + rows + more) * Math.exp(0.2 * random.nextGaussian()));
    assertThat(at(0.98, times) / 20_000).isLessThan(2.5);
    assertThat(at(0.5, times) / 20_000).isBetween(1.3, 2.0);
  }

  @Test
  void stepsHaveAMultipleOfTheRowsThatKernelsMultiplyTogether() {
    learn();
    assertThat((1 + plan(1, 1, 0, 1)) % StepCosts.ROWS_TOGETHER).isZero();
  }

  @Test
  void costsOfASlowMachineAreForgottenOnAFastOne() {
    run(1, PROMPT, (rows, more, _) -> 50_000.0 * (3 + 10 * (rows + more)));
    double[] times = run(1, PROMPT, (rows, more, _) -> 1000.0 * (40 + rows + more));
    assertThat(at(0.5, times) / 41_000).isBetween(1.7, 2.1);
  }

  @Test
  void promptsProgressEvenIfOneRowIsTooMany() {
    assertThat(run(1, PROMPT, (_, more, _) -> 1000.0 * (more == 0 ? 1 : 100 * more)))
        .containsOnly(100_000);
  }

  @Test
  void waitingPromptsMissFewSteps() {
    run(4, PROMPT, (rows, more, _) -> 1000.0 * (10 + rows + more));
    assertThat(plainSteps).isBetween(2 * STEPS / 40, 2 * STEPS / 30);
  }

  @Test
  void aWholeStepIsPrefilledIfNothingDecodes() {
    assertThat(plan(0, 0, 0, 1)).isEqualTo(256);
  }

  @Test
  void aLateRequestGetsAStepWithoutPrompts() {
    learn();
    assertThat(plan(1, 1, 30_000, 1)).isZero();
    prefillBudget.recordStep(21_000);
    assertThat(plan(1, 1, 0, 1)).isPositive();
  }

  @Test
  void promptOnlyStepsCountAgainstTheNextDecodeStep() {
    learn();
    assertThat(plan(1, 0, 0, 1)).isPositive();
    prefillBudget.recordStep(35_000);
    assertThat(plan(1, 1, 0, 1)).isZero();
  }

  /** What delays others without their rows costs them a whole step. */
  @Test
  void promptOnlyStepsAreShortWhileOthersWait() {
    learn();
    int beside = plan(1, 1, 0, 1);
    prefillBudget.recordStep(40_000);
    assertThat(plan(1, 0, 0, 1)).isBetween(1, beside / 2);
  }

  @Test
  void promptsWaitWhileHalfOfTheProcessorsQuantizeButNotForever() {
    learn();
    assertThat(plan(1, 1, 0, 0.9)).isPositive();
    prefillBudget.recordStep(40_000);
    int waited = 0;
    while (plan(1, 1, 0, 0.5) == 0) {
      prefillBudget.recordStep(30_000);
      waited++;
    }
    assertThat(waited).isEqualTo(8);
  }
}
