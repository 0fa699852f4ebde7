package dev.kvasir.store.redis;

import java.time.Duration;

/** Time limits for servers that answer, on machines that may be busy. */
final class TestTimes {
  static final RedisTimes PATIENT =
      new RedisTimes(
          Duration.ofSeconds(20),
          Duration.ofSeconds(30),
          Duration.ofSeconds(20),
          RedisTimes.USUAL.pause());

  /** Tries a server again at once. */
  static final RedisTimes PERSISTENT =
      new RedisTimes(PATIENT.read(), PATIENT.write(), PATIENT.writeSilence(), Duration.ofMillis(1));

  /** As usual, but for writes that are over sooner. */
  static final RedisTimes BRISK =
      new RedisTimes(
          RedisTimes.USUAL.read(),
          Duration.ofMillis(500),
          Duration.ofMillis(300),
          RedisTimes.USUAL.pause());

  private TestTimes() {}
}
