package dev.kvasir.codec.mead;

import dev.kvasir.kernel.NibbleRows;
import java.lang.foreign.ValueLayout;

/** A row of a table, as what packs tokens reads it: the same numbers that kernels make of it. */
final class TableRow {
  private TableRow() {}

  /**
   * @param out (width), set
   */
  static void expand(NibbleRows table, int row, float[] out) {
    int half = table.width() / 2;
    long first = (long) row * half;
    for (int i = 0; i < half; i++) {
      int two = table.data().get(ValueLayout.JAVA_BYTE, first + i);
      out[i] = Math.fma(two & 15, table.steps()[i], table.lows()[i]);
      out[half + i] = Math.fma(two >> 4 & 15, table.steps()[half + i], table.lows()[half + i]);
    }
  }
}
