package dev.kvasir.store.redis;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Suspends calls to a failed server for a while, then lets one caller at a time probe it.
 * Thread-safe.
 */
final class CircuitBreaker {
  private final long nanos;
  private final LongSupplier clock;
  private boolean isOpen;
  private long until;

  CircuitBreaker(Duration length, LongSupplier clock) {
    this.nanos = length.toNanos();
    this.clock = clock;
  }

  synchronized void open() {
    isOpen = true;
    until = clock.getAsLong() + nanos;
  }

  synchronized void close() {
    isOpen = false;
  }

  synchronized boolean isOpen() {
    return isOpen;
  }

  /** Returns whether a probe is due; true for one caller, after which the wait starts again. */
  synchronized boolean mayProbe() {
    if (!isOpen || clock.getAsLong() - until < 0) {
      return false;
    }
    open();
    return true;
  }
}
