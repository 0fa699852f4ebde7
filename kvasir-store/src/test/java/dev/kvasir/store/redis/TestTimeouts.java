package dev.kvasir.store.redis;

import java.time.Duration;

/** Timeouts for working servers on busy machines. */
final class TestTimeouts {
  static final RedisTimeouts PATIENT =
      new RedisTimeouts(
          Duration.ofSeconds(20),
          Duration.ofSeconds(30),
          Duration.ofSeconds(20),
          RedisTimeouts.DEFAULT.retryAfter());

  /** Retries a failed server immediately. */
  static final RedisTimeouts PERSISTENT =
      new RedisTimeouts(
          PATIENT.read(), PATIENT.write(), PATIENT.writeReply(), Duration.ofMillis(1));

  /** The defaults, except for shorter write timeouts. */
  static final RedisTimeouts BRISK =
      new RedisTimeouts(
          RedisTimeouts.DEFAULT.read(),
          Duration.ofMillis(500),
          Duration.ofMillis(300),
          RedisTimeouts.DEFAULT.retryAfter());

  private TestTimeouts() {}
}
