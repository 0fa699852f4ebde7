package dev.kvasir.spark;

import java.io.Serializable;

/**
 * The outcome of a task. A rejection is an outcome of its own, because Spark would retry a failure.
 */
sealed interface TaskOutcome extends Serializable {
  record Done(Serializable result) implements TaskOutcome {}

  /**
   * @param message message for the user
   */
  record Refused(String message) implements TaskOutcome {}

  /** The task stopped between two steps because its job was cancelled. */
  record Cancelled() implements TaskOutcome {}
}
