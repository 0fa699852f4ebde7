package dev.kvasir.encoder;

import java.util.List;

/** The rows of several texts that are encoded together, one after another. */
final class TextRows {
  private final int[] tokens;
  private final int[] types;
  private final int[] begins; // of each row's text
  private final int[] ends;

  TextRows(List<EncoderText> texts) {
    int count = texts.stream().mapToInt(text -> text.tokens().length).sum();
    tokens = new int[count];
    types = new int[count];
    begins = new int[count];
    ends = new int[count];
    int row = 0;
    for (EncoderText text : texts) {
      int begin = row;
      int end = row + text.tokens().length;
      for (; row < end; row++) {
        tokens[row] = text.tokens()[row - begin];
        types[row] = text.types()[row - begin];
        begins[row] = begin;
        ends[row] = end;
      }
    }
  }

  int count() {
    return tokens.length;
  }

  int token(int row) {
    return tokens[row];
  }

  int type(int row) {
    return types[row];
  }

  /** Returns the first row of a row's text. */
  int begin(int row) {
    return begins[row];
  }

  /** Returns the row after a row's text. */
  int end(int row) {
    return ends[row];
  }
}
