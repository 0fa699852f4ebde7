package dev.kvasir.spark;

import java.io.Serializable;

/** What became of a piece. A refusal is an answer: Spark would try a failure again, in vain. */
sealed interface Outcome extends Serializable {
  record Done(Serializable result) implements Outcome {}

  /**
   * @param sentence what a user is to read
   */
  record Refused(String sentence) implements Outcome {}

  /** Left between two steps, because its job was cancelled. */
  record Left() implements Outcome {}
}
