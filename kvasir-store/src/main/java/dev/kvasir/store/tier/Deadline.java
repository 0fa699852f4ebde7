package dev.kvasir.store.tier;

import java.time.Duration;

/**
 * A point in time after which a result is useless. Callees pass it on, so that all blobs and tiers
 * share one time limit.
 *
 * @param nanoTime on the clock of {@link System#nanoTime}
 */
public record Deadline(long nanoTime) {
  /** Longer than anyone waits, and short enough that differences do not overflow. */
  private static final Duration FOREVER = Duration.ofDays(365);

  public static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos());
  }

  /** Returns a deadline that never expires in practice. */
  public static Deadline none() {
    return in(FOREVER);
  }

  /** Returns the remaining time; at least 0. */
  public long nanosLeft() {
    return Math.max(0, nanoTime - System.nanoTime());
  }

  public boolean isExpired() {
    return nanosLeft() == 0;
  }
}
