package dev.kvasir.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class ReadSpeedTest {
  private static final long SECOND = 1_000_000_000;

  private final ReadSpeed speed = new ReadSpeed(500);

  @Test
  void beforeTheFirstReadItIsTheInitialEstimate() {
    assertThat(speed.bytesPerSecond()).isEqualTo(500);
    assertThat(speed.secondsFor(1000)).isEqualTo(2);
  }

  @Test
  void theFirstReadReplacesTheInitialEstimate() {
    speed.add(6000, 2 * SECOND);
    assertThat(speed.bytesPerSecond()).isEqualTo(3000);
  }

  @Test
  void oldReadsDecay() {
    for (int i = 0; i < 1000; i++) {
      speed.add(8000, SECOND);
    }
    for (int i = 0; i < 40; i++) {
      speed.add(1000, SECOND);
    }
    assertThat(speed.bytesPerSecond()).isCloseTo(1000, within(50.0));
  }

  @Test
  void largeReadsCountForMoreThanSmallOnes() {
    speed.add(1_000_000, SECOND);
    speed.add(10, SECOND / 1000);
    assertThat(speed.bytesPerSecond()).isGreaterThan(900_000);
  }

  @Test
  void aTierWithoutAnyBytesTakesForever() {
    speed.add(0, SECOND);
    assertThat(speed.secondsFor(1)).isInfinite();
  }
}
