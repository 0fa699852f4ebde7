package dev.kvasir.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.store.redis.RedisConnectionPool.CircuitBreaker;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
  private long now = Long.MAX_VALUE - 5; // such clocks wrap
  private final CircuitBreaker breaker = new CircuitBreaker(Duration.ofNanos(100), () -> now);

  @Test
  void aWorkingServerIsNotSuspended() {
    assertThat(breaker.isOpen()).isFalse();
    assertThat(breaker.mayProbe()).isFalse();
  }

  @Test
  void afterAFailureCallsAreSuspendedAndThenOneProbes() {
    breaker.open();
    assertThat(breaker.mayProbe()).isFalse();
    now += 99;
    assertThat(breaker.mayProbe()).isFalse();
    now += 1;
    assertThat(breaker.mayProbe()).isTrue();
    assertThat(breaker.mayProbe()).isFalse();
    assertThat(breaker.isOpen()).isTrue();
    now += 100;
    assertThat(breaker.mayProbe()).isTrue();
  }

  @Test
  void anAnswerEndsIt() {
    breaker.open();
    breaker.close();
    assertThat(breaker.isOpen()).isFalse();
  }
}
