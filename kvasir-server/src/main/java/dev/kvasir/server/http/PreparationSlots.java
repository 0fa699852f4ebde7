package dev.kvasir.server.http;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Bounds how many long requests are parsed and tokenized at once. All that arrive together would
 * otherwise share the processors with the steps of running streams, each of which waits for its
 * slowest thread.
 */
final class PreparationSlots {
  /** Bytes of a body from which on preparing it takes as long as a step. */
  static final int LONG = 1 << 14;

  /** Of the processors, the share that prepares requests at once. */
  private static final int SHARE = 4;

  private final Semaphore slots;

  PreparationSlots(int slots) {
    this.slots = new Semaphore(slots, true);
  }

  static PreparationSlots ofThisMachine() {
    return new PreparationSlots(Math.max(1, Runtime.getRuntime().availableProcessors() / SHARE));
  }

  /**
   * Returns the result of a preparation, which must not wait for anything but a processor.
   *
   * @param bodyBytes size of the request
   */
  <T> T run(int bodyBytes, Supplier<T> preparation) {
    if (bodyBytes < LONG) {
      return preparation.get();
    }
    slots.acquireUninterruptibly();
    try {
      return preparation.get();
    } finally {
      slots.release();
    }
  }
}
