package dev.kvasir.lab.mead;

import java.util.function.IntUnaryOperator;

/** Which row of a table is taken off a head's key, and which off its value. */
interface RowPicks {
  int ofKey(KeptText text, int token);

  int ofValue(KeptText text, int token);

  /** The row of the token's id, for both. */
  static RowPicks byId(IntUnaryOperator rowOf) {
    return new RowPicks() {
      @Override
      public int ofKey(KeptText text, int token) {
        return rowOf.applyAsInt(text.tokens()[token]);
      }

      @Override
      public int ofValue(KeptText text, int token) {
        return ofKey(text, token);
      }
    };
  }
}
