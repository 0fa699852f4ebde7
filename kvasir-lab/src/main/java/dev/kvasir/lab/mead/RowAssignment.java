package dev.kvasir.lab.mead;

import java.util.function.IntUnaryOperator;

/** Which row of a table is taken off a head's key, and which off its value. */
interface RowAssignment {
  int ofKey(TextActivations text, int token);

  int ofValue(TextActivations text, int token);

  /** The row of the token's id, for both. */
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
