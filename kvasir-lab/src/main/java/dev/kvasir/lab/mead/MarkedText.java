package dev.kvasir.lab.mead;

import java.io.Serializable;

/**
 * A text with the tokens marked that answer a question, where there are any.
 *
 * @param answers // (tokens)
 */
public record MarkedText(int[] tokens, boolean[] answers) implements Serializable {
  /** Prose: nothing is asked. */
  static MarkedText prose(int[] tokens) {
    return new MarkedText(tokens, new boolean[tokens.length]);
  }

  boolean hasAnswers() {
    for (boolean answer : answers) {
      if (answer) {
        return true;
      }
    }
    return false;
  }
}
