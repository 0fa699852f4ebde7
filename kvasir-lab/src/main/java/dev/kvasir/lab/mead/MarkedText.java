package dev.kvasir.lab.mead;

import java.io.Serializable;

/**
 * A text with a mask of answer tokens.
 *
 * @param answers // (tokens)
 */
public record MarkedText(int[] tokens, boolean[] answers) implements Serializable {
  /** Returns prose, which has no answer tokens. */
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
