package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Rows of bytes, sixteen of them at a time side by side, so that one load has the same byte of
 * sixteen rows.
 *
 * <pre>
 * rows 0-15: byte 0 of each, byte 1 of each, ...   rows 16-31: byte 0 of each, ...
 * </pre>
 */
public final class InterleavedBytes {
  /** Rows side by side. */
  public static final int ROWS = 16;

  private InterleavedBytes() {}

  /** Where the first byte of a row lies; the next ones lie {@link #CODEWORDS} apart. */
  public static long offset(int row, int rowBytes) {
    return (long) (row - row % ROWS) * rowBytes + row % ROWS;
  }

  /** Rows one after another, from where they lie side by side. */
  public static void toRows(
      MemorySegment from, long fromAt, int rows, int rowBytes, MemorySegment to, long toAt) {
    for (int row = 0; row < rows; row++) {
      long first = fromAt + offset(row, rowBytes);
      for (int i = 0; i < rowBytes; i++) {
        byte value = from.get(ValueLayout.JAVA_BYTE, first + (long) ROWS * i);
        to.set(ValueLayout.JAVA_BYTE, toAt + (long) row * rowBytes + i, value);
      }
    }
  }

  /** The inverse of {@link #toRows}. */
  public static void fromRows(
      MemorySegment from, long fromAt, int rows, int rowBytes, MemorySegment to, long toAt) {
    for (int row = 0; row < rows; row++) {
      long first = toAt + offset(row, rowBytes);
      for (int i = 0; i < rowBytes; i++) {
        byte value = from.get(ValueLayout.JAVA_BYTE, fromAt + (long) row * rowBytes + i);
        to.set(ValueLayout.JAVA_BYTE, first + (long) ROWS * i, value);
      }
    }
  }
}
