package dev.kvasir.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SamplingOptionsTest {
  private static final SamplingOptions OPTIONS = SamplingOptions.greedy();

  @Test
  void eachWitherChangesItsOwn() {
    SamplingOptions all =
        OPTIONS
            .withRepetitionPenalty(1.1)
            .withPresencePenalty(0.5)
            .withFrequencyPenalty(-2)
            .withLogitBias(Map.of(3, 1.5f))
            .withTemperature(0.7)
            .withTopK(40)
            .withTopP(0.9)
            .withMinP(0.05)
            .withSeed(9);
    assertThat(all)
        .isEqualTo(new SamplingOptions(1.1, 0.5, -2, Map.of(3, 1.5f), 0.7, 40, 0.9, 0.05, 9));
    assertThat(OPTIONS).isEqualTo(new SamplingOptions(1, 0, 0, Map.of(), 0, 0, 1, 0, 0));
  }

  @Test
  void theDefaultsDrawASeedThatCanBeTyped() {
    SamplingOptions usual = SamplingOptions.defaults();
    assertThat(usual.withSeed(0))
        .isEqualTo(new SamplingOptions(1, 0, 0, Map.of(), 0.9, 0, 1, 0.05, 0));
    Set<Long> seeds =
        Stream.generate(SamplingOptions::defaults)
            .limit(20)
            .map(SamplingOptions::seed)
            .collect(Collectors.toSet());
    assertThat(seeds).hasSizeGreaterThan(1).allMatch(seed -> seed >= 0 && seed < 1L << 32);
  }

  @Test
  void aBadTemperatureIsRefused() {
    for (double bad : new double[] {-0.1, 1e6, Double.POSITIVE_INFINITY, Double.NaN}) {
      assertRefused(
          options -> options.withTemperature(bad),
          "temperature is " + bad + "; expected 0 or more and less than a million");
    }
  }

  @Test
  void aBadRepetitionPenaltyIsRefused() {
    for (double bad : new double[] {0, -1, 1e6, Double.NaN}) {
      assertRefused(
          options -> options.withRepetitionPenalty(bad),
          "repetition penalty is " + bad + "; expected more than 0 and less than a million");
    }
  }

  @Test
  void aBadTopKIsRefused() {
    assertRefused(options -> options.withTopK(-1), "top-k is -1; expected 0 or more");
  }

  @Test
  void aBadTopPIsRefused() {
    for (double bad : new double[] {0, -1, 1.01, Double.NaN}) {
      assertRefused(
          options -> options.withTopP(bad),
          "top-p is " + bad + "; expected more than 0 and at most 1");
    }
  }

  @Test
  void aBadMinPIsRefused() {
    for (double bad : new double[] {-0.01, 1.01, Double.NaN}) {
      assertRefused(options -> options.withMinP(bad), "min-p is " + bad + "; expected 0 to 1");
    }
  }

  private static void assertRefused(UnaryOperator<SamplingOptions> change, String sentence) {
    assertThatThrownBy(() -> change.apply(OPTIONS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(sentence);
  }
}
