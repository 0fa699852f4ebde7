package dev.kvasir.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PauseTest {
  private long now = Long.MAX_VALUE - 5; // such clocks wrap
  private final Pause pause = new Pause(Duration.ofNanos(100), () -> now);

  @Test
  void aServerThatHasNotFailedIsNotLeftAlone() {
    assertThat(pause.isOn()).isFalse();
    assertThat(pause.mayTry()).isFalse();
  }

  @Test
  void afterAFailureNobodyTriesForAWhileAndThenOne() {
    pause.begin();
    assertThat(pause.mayTry()).isFalse();
    now += 99;
    assertThat(pause.mayTry()).isFalse();
    now += 1;
    assertThat(pause.mayTry()).isTrue();
    assertThat(pause.mayTry()).isFalse();
    assertThat(pause.isOn()).isTrue();
    now += 100;
    assertThat(pause.mayTry()).isTrue();
  }

  @Test
  void anAnswerEndsIt() {
    pause.begin();
    pause.end();
    assertThat(pause.isOn()).isFalse();
  }
}
