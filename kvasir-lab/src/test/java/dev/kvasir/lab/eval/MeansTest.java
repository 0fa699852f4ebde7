package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MeansTest {
  /** For many normal samples the bootstrap agrees with 1.96 standard errors. */
  @Test
  void intervalMatchesTheStandardError() {
    Random random = new Random(3);
    List<Double> samples = random.doubles(400).map(u -> random.nextGaussian()).boxed().toList();
    Estimate estimate = Means.estimate(samples);
    double mean = Means.of(samples);
    double variance = samples.stream().mapToDouble(x -> (x - mean) * (x - mean)).sum() / 400;
    double half = 1.96 * Math.sqrt(variance / 400);
    assertThat(estimate.value()).isEqualTo(mean);
    assertThat(estimate.low()).isEqualTo(mean - half, within(0.1 * half));
    assertThat(estimate.high()).isEqualTo(mean + half, within(0.1 * half));
  }

  @Test
  void sameSamplesGiveSameInterval() {
    List<Double> samples = List.of(1.0, 5.0, 2.0);
    assertThat(Means.estimate(samples)).isEqualTo(Means.estimate(samples));
  }

  @Test
  void oneSampleHasNoInterval() {
    assertThat(Means.estimate(List.of(3.0)).low()).isNaN();
    assertThat(Means.estimate(List.of()).value()).isNaN();
  }
}
