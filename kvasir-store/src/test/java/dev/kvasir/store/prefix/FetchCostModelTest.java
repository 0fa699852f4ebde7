package dev.kvasir.store.prefix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class FetchCostModelTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final FetchCostModel costs = new FetchCostModel();

  @Test
  void aSingleTokenDoesNotMeasureSpeed() {
    costs.recordPrefill(1, SECOND);
    assertThat(costs.prefillSeconds(1000)).isInfinite();
    costs.recordPrefill(500, SECOND);
    costs.recordPrefill(1, SECOND);
    assertThat(costs.prefillTokensPerSecond()).isCloseTo(500, within(1e-6));
    assertThat(costs.prefillSeconds(1000)).isCloseTo(2, within(1e-6));
  }

  @Test
  void theFetchTimeoutIsBounded() {
    assertThat(FetchCostModel.fetchTimeout(0.001)).isEqualTo(FetchCostModel.MIN_FETCH_TIMEOUT);
    assertThat(FetchCostModel.fetchTimeout(2)).isEqualTo(Duration.ofSeconds(1));
    assertThat(FetchCostModel.fetchTimeout(60)).isEqualTo(FetchCostModel.MAX_FETCH_TIMEOUT);
    assertThat(FetchCostModel.fetchTimeout(Double.POSITIVE_INFINITY))
        .isEqualTo(FetchCostModel.MAX_FETCH_TIMEOUT);
  }
}
