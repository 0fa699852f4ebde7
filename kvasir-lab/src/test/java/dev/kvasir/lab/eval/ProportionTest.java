package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProportionTest {
  /**
   * The first line is computed by hand: z² = 3.8415, (0.5 + 0.19207) / 1.38415 = 0.5 and 1.96 /
   * 1.38415 * sqrt(0.025 + 0.0096) = 0.2634. The others are published: Newcombe, "Two-sided
   * confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I.
   */
  @ParameterizedTest
  @CsvSource({
    "5, 10, 0.2366, 0.7634",
    "81, 263, 0.2553, 0.3662",
    "15, 148, 0.0624, 0.1605",
    "0, 20, 0, 0.1611",
    "1, 29, 0.0061, 0.1718"
  })
  void intervalIsWilsons(int right, int tries, double low, double high) {
    Estimate estimate = new Proportion(right, tries).estimate();
    assertThat(estimate.low()).isEqualTo(low, within(1e-4));
    assertThat(estimate.high()).isEqualTo(high, within(1e-4));
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "3, 3", "1, 1000", "999, 1000"})
  void intervalContainsTheProportionAndStaysWithinZeroAndOne(int right, int tries) {
    Estimate estimate = new Proportion(right, tries).estimate();
    assertThat(estimate.low()).isBetween(0.0, estimate.value());
    assertThat(estimate.high()).isBetween(estimate.value(), 1.0);
  }

  @Test
  void samplesOfOneAreSuccesses() {
    assertThat(Proportion.of(List.of(1.0, 0.0, 1.0))).isEqualTo(new Proportion(2, 3));
    assertThat(new Proportion(0, 0).estimate().value()).isNaN();
  }
}
