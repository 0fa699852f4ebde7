package dev.kvasir.lab;

/** Follows work of the lab while it runs, on the thread that runs it. */
public interface WorkListener {
  /** Hears nothing and never stops. */
  WorkListener NONE = (done, inAll) -> {};

  /** How much of the work is done, in units of about equal time. */
  void progress(double done, double inAll);

  /** What is being worked on, in a few words. */
  default void doing(String what) {}

  /** Asked between steps; true ends the work there. Who does it says what is then kept. */
  default boolean stopped() {
    return false;
  }
}
