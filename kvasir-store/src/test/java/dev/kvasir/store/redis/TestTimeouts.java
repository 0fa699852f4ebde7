package dev.kvasir.store.redis;

import java.time.Duration;

/** Time limits for servers that answer, on machines that may be busy. */
final class TestTimeouts {
  static final RedisTimeouts PATIENT =
      new RedisTimeouts(
          Duration.ofSeconds(20),
          Duration.ofSeconds(30),
          Duration.ofSeconds(20),
          RedisTimeouts.DEFAULT.retryAfter());

  /** Tries a server again at once. */
  static final RedisTimeouts PERSISTENT =
      new RedisTimeouts(
          PATIENT.read(), PATIENT.write(), PATIENT.writeReply(), Duration.ofMillis(1));

  /** As usual, but for writes that are over sooner. */
  static final RedisTimeouts BRISK =
      new RedisTimeouts(
          RedisTimeouts.DEFAULT.read(),
          Duration.ofMillis(500),
          Duration.ofMillis(300),
          RedisTimeouts.DEFAULT.retryAfter());

  private TestTimeouts() {}
}
