package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;

/** Leaves a piece between two of its steps, because the listener asked for it. */
public final class WorkCancelledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WorkCancelledException() {
    super("the work was stopped");
  }

  /** Tells a listener how far a piece has come, and leaves the piece where that is enough. */
  public static void reportOrThrow(ProgressListener listener, double done, double total) {
    listener.progress(Math.min(done, total), total);
    if (listener.isCancelled()) {
      throw new WorkCancelledException();
    }
  }
}
