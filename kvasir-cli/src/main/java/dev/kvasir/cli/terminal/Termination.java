package dev.kvasir.cli.terminal;

import java.util.concurrent.CountDownLatch;
import org.jline.utils.Signals;

/** Waits for Ctrl-C or SIGTERM, so that the work can end cleanly. */
public final class Termination implements AutoCloseable {
  private static final String[] NAMES = {"TERM", "INT"};

  private final CountDownLatch requested = new CountDownLatch(1);
  private volatile boolean repeated;
  private final Object[] before = new Object[NAMES.length];

  private Termination() {
    for (int i = 0; i < NAMES.length; i++) {
      before[i] = Signals.register(NAMES[i], this::signal);
    }
  }

  private void signal() {
    repeated = requested.getCount() == 0;
    requested.countDown();
  }

  public static Termination install() {
    return new Termination();
  }

  /** Returns whether a second signal came. */
  public boolean isRepeated() {
    return repeated;
  }

  public void await() throws InterruptedException {
    requested.await();
  }

  /** Restores the previous handlers, so a second signal has its usual effect. */
  @Override
  public void close() {
    for (int i = 0; i < NAMES.length; i++) {
      Signals.unregister(NAMES[i], before[i]);
    }
  }
}
