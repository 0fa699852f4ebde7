package dev.kvasir.store.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailuresTest {
  private long now;
  private final List<String> reports = new ArrayList<>();
  private final Failures failures = new Failures(reports::add, () -> now);

  @Test
  void eachKindOfWorkIsReportedOnceInTenMinutesAndAlwaysCounted() {
    failures.add("reading", "a");
    failures.add("reading", "b");
    failures.add("writing", "c");
    now += Duration.ofMinutes(10).toNanos() - 1;
    failures.add("reading", "d");
    now++;
    failures.add("reading", "e");
    assertThat(reports).containsExactly("a", "c", "e");
    assertThat(failures.count()).isEqualTo(5);
  }
}
