package dev.kvasir.cli.terminal;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Turns Ctrl-C into a flag that running work polls. A shutdown hook delays the JVM until the work
 * has ended; the process then exits with the signal's code.
 */
public final class Interruption implements AutoCloseable {
  /** The exit code that shells report for a process ended by Ctrl-C. */
  public static final int EXIT_CODE = 130;

  /**
   * Work that does not end within this time is cut off. The rest of a step and a saved session take
   * milliseconds, but more than ten seconds where twenty processes share two processors.
   */
  private static final int GRACE_SECONDS = 60;

  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook = new Thread(this::await, "interruption");
  private volatile boolean isRequested;

  private Interruption() {}

  public static Interruption install() {
    Interruption interruption = new Interruption();
    Runtime.getRuntime().addShutdownHook(interruption.hook);
    return interruption;
  }

  private void await() {
    isRequested = true;
    try {
      // Whether or not the work has ended, the process exits next.
      ended.await(GRACE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether the work should end. */
  public boolean isRequested() {
    return isRequested;
  }

  @Override
  public void close() {
    ended.countDown();
    if (!isRequested) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The signal arrived in between; the hook sees that the work has ended.
        isRequested = true;
      }
    }
  }
}
