package dev.kvasir.lab;

/**
 * Receives progress reports of lab work and can cancel it. All calls come from the thread that runs
 * the work.
 */
public interface ProgressListener {
  /** Ignores all reports and never cancels. */
  ProgressListener NONE = (done, total) -> {};

  /** Reports how much of the work is done, in units of about equal time. */
  void progress(double done, double total);

  /** Describes the current activity in a few words. */
  default void status(String what) {}

  /**
   * Returns true to cancel the work. It is polled between steps; each operation documents which
   * results survive a cancellation.
   */
  default boolean isCancelled() {
    return false;
  }
}
