package dev.kvasir.server.http;

import java.time.Duration;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Tracks responses that are being written. A completion may have ended before its client has read
 * it; a server that stopped then would cut off the last event.
 */
public final class InFlightResponses {
  /** The waiting thread is a party from the start, so no phase ends before it arrives. */
  private final Phaser phaser = new Phaser(1);

  InFlightResponses() {}

  /** Closed when the response is written, or cannot be. */
  interface InFlight extends AutoCloseable {
    @Override
    void close();
  }

  InFlight begin() {
    phaser.register();
    return phaser::arriveAndDeregister;
  }

  /** Waits until no response is being written; returns whether that happened in time. */
  public boolean await(Duration timeout) throws InterruptedException {
    try {
      phaser.awaitAdvanceInterruptibly(phaser.arrive(), timeout.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }
}
