package dev.kvasir.lab.work;

import dev.kvasir.lab.WorkListener;

/** Leaves a piece between two of its steps, because the listener asked for it. */
public final class Stopped extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public Stopped() {
    super("the work was stopped");
  }

  /** Tells a listener how far a piece has come, and leaves the piece where that is enough. */
  public static void unlessWanted(WorkListener listener, double done, double inAll) {
    listener.progress(Math.min(done, inAll), inAll);
    if (listener.stopped()) {
      throw new Stopped();
    }
  }
}
