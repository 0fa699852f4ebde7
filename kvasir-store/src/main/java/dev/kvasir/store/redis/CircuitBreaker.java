package dev.kvasir.store.redis;

import java.time.Duration;
import java.util.function.LongSupplier;

/** After a failure a server is left alone for a while, and then tried by one at a time. */
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

  /** Whether it has lasted long enough; true for one caller, for whom it begins anew. */
  synchronized boolean mayProbe() {
    if (!isOpen || clock.getAsLong() - until < 0) {
      return false;
    }
    open();
    return true;
  }
}
