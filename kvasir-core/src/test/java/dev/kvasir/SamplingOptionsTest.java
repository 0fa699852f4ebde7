package dev.kvasir;

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
        OPTIONS.toBuilder()
            .repetitionPenalty(1.1)
            .presencePenalty(0.5)
            .frequencyPenalty(-2)
            .logitBias(Map.of(3, 1.5f))
            .temperature(0.7)
            .topK(40)
            .topP(0.9)
            .minP(0.05)
            .seed(9)
            .build();
    assertThat(all)
        .isEqualTo(new SamplingOptions(1.1, 0.5, -2, Map.of(3, 1.5f), 0.7, 40, 0.9, 0.05, 9));
    assertThat(OPTIONS).isEqualTo(new SamplingOptions(1, 0, 0, Map.of(), 0, 0, 1, 0, 0));
  }

  @Test
  void theDefaultsDrawASeedThatCanBeTyped() {
    SamplingOptions usual = SamplingOptions.defaults();
    assertThat(usual.toBuilder().seed(0).build())
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
          options -> options.toBuilder().temperature(bad).build(),
          "temperature is " + bad + "; expected 0 or more and less than a million");
    }
  }

  @Test
  void aBadRepetitionPenaltyIsRefused() {
    for (double bad : new double[] {0, -1, 1e6, Double.NaN}) {
      assertRefused(
          options -> options.toBuilder().repetitionPenalty(bad).build(),
          "repetition penalty is " + bad + "; expected more than 0 and less than a million");
    }
  }

  @Test
  void aBadTopKIsRefused() {
    assertRefused(
        options -> options.toBuilder().topK(-1).build(), "top-k is -1; expected 0 or more");
  }

  @Test
  void aBadTopPIsRefused() {
    for (double bad : new double[] {0, -1, 1.01, Double.NaN}) {
      assertRefused(
          options -> options.toBuilder().topP(bad).build(),
          "top-p is " + bad + "; expected more than 0 and at most 1");
    }
  }

  @Test
  void aBadMinPIsRefused() {
    for (double bad : new double[] {-0.01, 1.01, Double.NaN}) {
      assertRefused(
          options -> options.toBuilder().minP(bad).build(),
          "min-p is " + bad + "; expected 0 to 1");
    }
  }

  private static void assertRefused(UnaryOperator<SamplingOptions> change, String sentence) {
    assertThatThrownBy(() -> change.apply(OPTIONS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(sentence);
  }
}
