package dev.kvasir.spark;

import java.io.Serializable;

/** What became of a piece. A refusal is an answer: Spark would try a failure again, in vain. */
sealed interface TaskOutcome extends Serializable {
  record Done(Serializable result) implements TaskOutcome {}

  /**
   * @param sentence what a user is to read
   */
  record Refused(String message) implements TaskOutcome {}

  /** Left between two steps, because its job was cancelled. */
  record Cancelled() implements TaskOutcome {}
}
