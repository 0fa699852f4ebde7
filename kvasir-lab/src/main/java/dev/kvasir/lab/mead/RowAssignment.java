package dev.kvasir.lab.mead;

import java.util.function.IntUnaryOperator;

/** Assigns table rows to the keys and values of a head. */
interface RowAssignment {
  int ofKey(TextActivations text, int token);

  int ofValue(TextActivations text, int token);

  /** Returns an assignment by token id, for keys and values alike. */
  static RowAssignment byId(IntUnaryOperator rowOf) {
    return new RowAssignment() {
      @Override
      public int ofKey(TextActivations text, int token) {
        return rowOf.applyAsInt(text.tokens()[token]);
      }

      @Override
      public int ofValue(TextActivations text, int token) {
        return ofKey(text, token);
      }
    };
  }
}
