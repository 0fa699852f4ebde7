package dev.kvasir.codec.patternkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FlatteningGateTest {
  @ParameterizedTest
  @CsvSource({
    "0.5, 0",
    "0.95, 1.6448536269514722",
    "0.99, 2.3263478740408408",
    "0.999999, 4.753424308822899",
    "0.05, -1.6448536269514722"
  })
  void quantilesAreThoseOfTheNormalDistribution(double p, double z) {
    assertThat(FlatteningGate.normalQuantile(p)).isCloseTo(z, within(1e-8));
  }

  /** The criterion of the paper holds just below the ratio and fails just above. */
  @ParameterizedTest
  @CsvSource({"64, 0.05", "80, 0.05", "128, 0.05", "128, 0.001", "20, 0.2", "256, 0.4"})
  void ratioIsTheLimitOfTheCriterion(int headDim, double alpha) {
    double ratio = FlatteningGate.largestRatio(headDim, alpha);
    assertThat(ratio).isBetween(0.3, 1.0);
    assertThat(holds(ratio - 1e-9, headDim, alpha)).isTrue();
    assertThat(holds(ratio + 1e-9, headDim, alpha)).isFalse();
  }

  private static boolean holds(double rho, int headDim, double alpha) {
    double z = FlatteningGate.normalQuantile(1 - alpha);
    return 1 - rho * rho >= 2 * z / Math.sqrt(5.0 * headDim) * Math.sqrt(1 + Math.pow(rho, 4));
  }

  @Test
  void alphaOfOneHalfAcceptsAnyGain() {
    assertThat(FlatteningGate.largestRatio(128, 0.5)).isCloseTo(1, within(1e-9));
  }

  @Test
  void tooFewChannelsAcceptNoPattern() {
    assertThat(FlatteningGate.largestRatio(4, 1e-6)).isNegative();
  }
}
