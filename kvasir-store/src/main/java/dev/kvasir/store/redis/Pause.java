package dev.kvasir.store.redis;

import java.time.Duration;
import java.util.function.LongSupplier;

/** After a failure a server is left alone for a while, and then tried by one at a time. */
final class Pause {
  private final long nanos;
  private final LongSupplier clock;
  private boolean isOn;
  private long until;

  Pause(Duration length, LongSupplier clock) {
    this.nanos = length.toNanos();
    this.clock = clock;
  }

  synchronized void begin() {
    isOn = true;
    until = clock.getAsLong() + nanos;
  }

  synchronized void end() {
    isOn = false;
  }

  synchronized boolean isOn() {
    return isOn;
  }

  /** Whether it has lasted long enough; true for one caller, for whom it begins anew. */
  synchronized boolean mayTry() {
    if (!isOn || clock.getAsLong() - until < 0) {
      return false;
    }
    begin();
    return true;
  }
}
