package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CarrierThreadsTest {
  private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";
  private final String before = System.getProperty(PARALLELISM);

  @AfterEach
  void restore() {
    if (before == null) {
      System.clearProperty(PARALLELISM);
    } else {
      System.setProperty(PARALLELISM, before);
    }
  }

  @Test
  void whatIsGivenStays() {
    System.setProperty(PARALLELISM, "3");
    CarrierThreads.raise();
    assertThat(System.getProperty(PARALLELISM)).isEqualTo("3");
  }

  @Test
  void thereAreNeverFewerThanProcessors() {
    System.clearProperty(PARALLELISM);
    CarrierThreads.raise();
    int processors = Runtime.getRuntime().availableProcessors();
    assertThat(Integer.getInteger(PARALLELISM, processors))
        .isGreaterThanOrEqualTo(Math.max(16, processors));
  }
}
