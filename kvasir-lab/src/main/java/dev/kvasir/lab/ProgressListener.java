package dev.kvasir.lab;

/** Follows work of the lab while it runs, on the thread that runs it. */
public interface ProgressListener {
  /** Hears nothing and never stops. */
  ProgressListener NONE = (done, total) -> {};

  /** How much of the work is done, in units of about equal time. */
  void progress(double done, double total);

  /** What is being worked on, in a few words. */
  default void status(String what) {}

  /** Asked between steps; true ends the work there. Who does it says what is then kept. */
  default boolean isCancelled() {
    return false;
  }
}
