package dev.kvasir.codec.mixkvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class TiersTest {
  @Test
  void channelsAreOrderedByTierThenIndex() {
    float[] salience = {1, 5, 3, 9, 1, 3, 1, 3, 3};
    Tiers tiers = Tiers.of(salience, 0, 9, new Thresholds(4, 2));
    assertThat(tiers.high()).isEqualTo(2);
    assertThat(tiers.mid()).isEqualTo(4);
    assertThat(tiers.order()).containsExactly(1, 3, 2, 5, 7, 8, 0, 4, 6);
  }

  @Test
  void aThresholdItselfIsNotExceeded() {
    Tiers tiers = Tiers.of(new float[] {4, 2, 2, 2}, 0, 4, new Thresholds(4, 2));
    assertThat(tiers.high()).isZero();
    assertThat(tiers.order()).containsExactly(0, 1, 2, 3);
  }

  @Test
  void freeSlotsInTheLastQuadGoToTheMostSalientChannels() {
    float[] salience = {0, 3, 1.5f, 0.5f, 1.9f, 1.8f, 0.1f, 0.2f};
    Tiers tiers = Tiers.of(salience, 0, 8, new Thresholds(4, 2));
    assertThat(tiers.mid()).isEqualTo(4);
    assertThat(tiers.order()).containsExactly(1, 2, 4, 5, 0, 3, 6, 7);
  }

  @Test
  void midThresholdAboveHighLeavesNoMidTier() {
    Tiers tiers = Tiers.of(new float[] {5, 3, 1, 1}, 0, 4, new Thresholds(2, 4));
    assertThat(tiers.high()).isEqualTo(2);
    assertThat(tiers.mid()).isZero();
  }

  @Test
  void quantilesConvertSharesAndThresholds() {
    float[] saliences = new float[10_001];
    for (int i = 0; i < saliences.length; i++) {
      saliences[(i * 7919) % saliences.length] = i / 10_000f;
    }
    SalienceQuantiles quantiles = SalienceQuantiles.of(saliences);
    assertThat(quantiles.shareAbove(0.75)).isCloseTo(0.25, within(1e-3));
    assertThat(quantiles.thresholdFor(0.25)).isCloseTo(0.75, within(1e-3));
    assertThat(quantiles.shareAbove(-1)).isEqualTo(1);
    assertThat(quantiles.shareAbove(2)).isZero();
    assertThat(quantiles.shares(new Thresholds(0.5f, 0.7f)).mid()).isZero();
  }
}
