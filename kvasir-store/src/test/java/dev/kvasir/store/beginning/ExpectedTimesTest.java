package dev.kvasir.store.beginning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ExpectedTimesTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final ExpectedTimes times = new ExpectedTimes();

  @Test
  void aTokenThatIsReadAloneTellsNoSpeed() {
    times.read(1, SECOND);
    assertThat(times.toRead(1000)).isInfinite();
    times.read(500, SECOND);
    times.read(1, SECOND);
    assertThat(times.tokensPerSecond()).isCloseTo(500, within(1e-6));
    assertThat(times.toRead(1000)).isCloseTo(2, within(1e-6));
  }

  @Test
  void nobodyWaitsForHalfAMinuteNorGivesUpAtOnce() {
    assertThat(ExpectedTimes.patience(0.001)).isEqualTo(ExpectedTimes.SHORTEST_WAIT);
    assertThat(ExpectedTimes.patience(2)).isEqualTo(Duration.ofSeconds(1));
    assertThat(ExpectedTimes.patience(60)).isEqualTo(ExpectedTimes.LONGEST_WAIT);
    assertThat(ExpectedTimes.patience(Double.POSITIVE_INFINITY))
        .isEqualTo(ExpectedTimes.LONGEST_WAIT);
  }
}
