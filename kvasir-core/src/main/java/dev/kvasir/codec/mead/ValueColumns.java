package dev.kvasir.codec.mead;

import dev.kvasir.kernel.ByteColumns;
import java.lang.foreign.MemorySegment;

/**
 * How rows of codes lie in memory. Those of keys lie one after another, since a key is made whole;
 * those of values in {@link ByteColumns}, since values are summed channel by channel. Stored pages
 * have rows of both one after another.
 */
final class ValueColumns {
  private ValueColumns() {}

  /** Where a row of a class begins. */
  static long rowAt(Side side, int row, int rowBytes) {
    return side == Side.KEYS ? (long) row * rowBytes : ByteColumns.at(row, rowBytes);
  }

  /** From a byte of a row to the next one. */
  static int bytesApart(Side side) {
    return side == Side.KEYS ? 1 : ByteColumns.ROWS;
  }

  /** A page's bytes as they are stored, from those in memory. */
  static void toStored(LayerCodes codes, MemorySegment memory, MemorySegment stored) {
    stored.copyFrom(memory);
    for (int head = 0; head < codes.heads().size(); head++) {
      toRows(codes, head, memory, stored, codes.shape().rowsAt(head, Side.VALUES));
    }
  }

  /** Rows of a head's values one after another. */
  static void toRows(
      LayerCodes codes, int head, MemorySegment memory, MemorySegment rows, long to) {
    long first = codes.shape().rowsAt(head, Side.VALUES);
    for (int i = 0; i < TokenClass.COUNT; i++) {
      TokenClass some = TokenClass.of(i); // a step takes nothing from the heap
      long at = codes.shape().rowsAt(head, Side.VALUES, some);
      int rowBytes = codes.heads().get(head).of(Side.VALUES, some).rowBytes();
      ByteColumns.toRows(memory, at, some.tokens(), rowBytes, rows, to + at - first);
    }
  }

  /** The inverse of {@link #toStored}. */
  static void fromStored(LayerCodes codes, MemorySegment stored, MemorySegment memory) {
    memory.copyFrom(stored);
    for (int head = 0; head < codes.heads().size(); head++) {
      for (TokenClass some : TokenClass.values()) {
        long at = codes.shape().rowsAt(head, Side.VALUES, some);
        int rowBytes = codes.heads().get(head).of(Side.VALUES, some).rowBytes();
        ByteColumns.fromRows(stored, at, some.tokens(), rowBytes, memory, at);
      }
    }
  }
}
