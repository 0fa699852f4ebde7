package dev.kvasir.lab.mead;

import dev.kvasir.text.Tokenizer;
import java.util.Arrays;

/** Concatenates pieces of a text until it is full. */
final class MarkedTextWriter {
  private final Tokenizer tokenizer;
  private final int[] tokens;
  private final boolean[] answers;
  private int end;

  /**
   * @param length tokens of the text; what exceeds it is dropped
   */
  MarkedTextWriter(Tokenizer tokenizer, int length) {
    this.tokenizer = tokenizer;
    this.tokens = new int[length];
    this.answers = new boolean[length];
  }

  void add(String piece, boolean isAnswer) {
    for (int id : tokenizer.encode(piece, false)) {
      if (end < tokens.length) {
        tokens[end] = id;
        answers[end] = isAnswer;
        end++;
      }
    }
  }

  int length() {
    return end;
  }

  boolean isFull() {
    return end == tokens.length;
  }

  MarkedText text() {
    return new MarkedText(Arrays.copyOf(tokens, end), Arrays.copyOf(answers, end));
  }
}
