package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;

/** Ends a task between two steps because the listener cancelled it. */
public final class WorkCancelledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WorkCancelledException() {
    super("the work was stopped");
  }

  /** Reports progress to the listener and throws if it cancels the task. */
  public static void reportOrThrow(ProgressListener listener, double done, double total) {
    listener.progress(Math.min(done, total), total);
    if (listener.isCancelled()) {
      throw new WorkCancelledException();
    }
  }
}
