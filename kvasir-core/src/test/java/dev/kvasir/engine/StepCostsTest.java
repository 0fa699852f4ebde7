package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class StepCostsTest {
  private static final int COUNT = 7;

  private final StepCosts costs = new StepCosts();

  private int choose(double rate, double draftNanos) {
    double[] chances = new double[COUNT];
    Arrays.setAll(chances, i -> Math.pow(rate, i + 1));
    return costs.choose(1, 1, chances, COUNT, draftNanos);
  }

  /** Records steps whose time grows by a share of the first row's with each further row. */
  private void recordSteps(double share) {
    for (int i = 0; i < 200; i++) {
      for (int rows = 1; rows <= COUNT + 1; rows++) {
        costs.record(rows, (long) (1e6 * (1 + share * (rows - 1))), rows);
      }
    }
    costs.record(1, 1_000_000, 1);
  }

  @Test
  void certainTokensAreAlwaysWorthIt() {
    assertThat(choose(1, 0)).isEqualTo(COUNT);
    assertThat(choose(0.05, 0)).isZero();
  }

  @Test
  void cheapRowsAllowUncertainTokens() {
    recordSteps(0.02);
    assertThat(choose(0.5, 0)).isPositive();
    recordSteps(0.9);
    assertThat(choose(0.5, 0)).isZero();
  }

  @Test
  void theTimeOfDraftingCounts() {
    recordSteps(0.1);
    assertThat(choose(0.8, 0)).isGreaterThan(choose(0.8, 300_000));
    assertThat(choose(0.8, 2_000_000)).isZero();
  }

  @Test
  void rowsOfOtherRequestsMakeDraftsDearer() {
    for (int i = 0; i < 200; i++) {
      costs.record(64, 64_000_000, 64);
      costs.record(65, 65_000_000, 65);
      costs.record(1, 1_000_000, 1);
    }
    costs.record(64, 64_000_000, 64);
    assertThat(costs.choose(1, 1, new double[] {0.9}, 1, 0)).isZero();
  }
}
