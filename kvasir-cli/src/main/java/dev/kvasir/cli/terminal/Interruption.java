package dev.kvasir.cli.terminal;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Turns Ctrl-C into a question that running work asks itself. The JVM begins to shut down and waits
 * here until the work has ended in good order; then the process ends with the signal's exit code.
 */
public final class Interruption implements AutoCloseable {
  /** What a shell answers for a process that ended by Ctrl-C. */
  public static final int EXIT_CODE = 130;

  /** A step that takes longer than this is cut off. */
  private static final int GRACE_SECONDS = 10;

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
      // Ended or not, the process goes next.
      ended.await(GRACE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether the work should end. */
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
        // The signal came between the two lines; the hook finds the work ended.
        isRequested = true;
      }
    }
  }
}
