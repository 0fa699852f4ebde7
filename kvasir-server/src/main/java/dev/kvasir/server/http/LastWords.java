package dev.kvasir.server.http;

import java.time.Duration;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The answers that are being written. One that has ended in the engine is not yet with its client:
 * a server that goes in between cuts its last event off.
 */
public final class LastWords {
  /** Who awaits is a party from the beginning, so no phase ends before that. */
  private final Phaser writing = new Phaser(1);

  LastWords() {}

  /** Closed when all is written, or cannot be. */
  interface Unfinished extends AutoCloseable {
    @Override
    void close();
  }

  Unfinished begin() {
    writing.register();
    return writing::arriveAndDeregister;
  }

  /**
   * Waits until nothing is being written any more; answers whether it came to that in this time.
   */
  public boolean await(Duration patience) throws InterruptedException {
    try {
      writing.awaitAdvanceInterruptibly(writing.arrive(), patience.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }
}
