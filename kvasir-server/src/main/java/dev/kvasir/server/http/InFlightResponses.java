package dev.kvasir.server.http;

import java.time.Duration;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The answers that are being written. One that has ended in the engine is not yet with its client:
 * a server that goes in between cuts its last event off.
 */
public final class InFlightResponses {
  /** Who awaits is a party from the beginning, so no phase ends before that. */
  private final Phaser phaser = new Phaser(1);

  InFlightResponses() {}

  /** Closed when all is written, or cannot be. */
  interface InFlight extends AutoCloseable {
    @Override
    void close();
  }

  InFlight begin() {
    phaser.register();
    return phaser::arriveAndDeregister;
  }

  /**
   * Waits until nothing is being written any more; answers whether it came to that in this time.
   */
  public boolean await(Duration timeout) throws InterruptedException {
    try {
      phaser.awaitAdvanceInterruptibly(phaser.arrive(), timeout.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }
}
