package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A layout that interleaves sixteen rows of bytes, so that one load reads the same byte of sixteen
 * rows.
 *
 * <pre>
 * rows 0-15: byte 0 of each, byte 1 of each, ...   rows 16-31: byte 0 of each, ...
 * </pre>
 */
public final class InterleavedBytes {
  /** Rows that are interleaved. */
  public static final int ROWS = 16;

  private InterleavedBytes() {}

  /** Returns the offset of a row's first byte; its bytes are {@link #ROWS} apart. */
  public static long offset(int row, int rowBytes) {
    return (long) (row - row % ROWS) * rowBytes + row % ROWS;
  }

  /** Copies interleaved rows to contiguous rows. */
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

  /** Copies contiguous rows to interleaved rows; the inverse of {@link #toRows}. */
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
