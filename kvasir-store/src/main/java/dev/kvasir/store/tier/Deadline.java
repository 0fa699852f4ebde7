package dev.kvasir.store.tier;

import java.time.Duration;

/**
 * Until when an answer is of use. It is passed along, so that what several blobs and several tiers
 * take adds up to one time and not to many.
 *
 * @param nanoTime on the clock of {@link System#nanoTime}
 */
public record Deadline(long nanoTime) {
  /** Longer than anybody waits, and short enough that differences do not overflow. */
  private static final Duration FOREVER = Duration.ofDays(365);

  public static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos());
  }

  /** For those who would rather wait than go without. */
  public static Deadline none() {
    return in(FOREVER);
  }

  /** At least 0. */
  public long nanosLeft() {
    return Math.max(0, nanoTime - System.nanoTime());
  }

  public boolean isExpired() {
    return nanosLeft() == 0;
  }
}
