package dev.kvasir.engine;

/**
 * Lets other work run in the midst of a long step, on the same thread. An engine asks between the
 * parts of the step, whose results do not depend on it.
 */
public interface Preemption {
  /** Returns the nanoseconds until other work is due; {@link Long#MAX_VALUE} if none is. */
  long nanosLeft();

  /**
   * Runs the other work if it is ready. It never throws, since a failure of one must not affect the
   * other.
   *
   * @return whether any work ran
   */
  boolean runOthers();

  /**
   * Called at the end of the step.
   *
   * @param nanos estimated time of its longest part that cannot be interrupted
   */
  void finished(long nanos);
}
