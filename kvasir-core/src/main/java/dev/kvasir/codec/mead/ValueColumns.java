package dev.kvasir.codec.mead;

import dev.kvasir.kernel.InterleavedBytes;
import java.lang.foreign.MemorySegment;

/**
 * How rows of codes lie in memory. Those of keys lie one after another, since a key is made whole;
 * those of values in {@link InterleavedBytes}, since values are summed channel by channel. Stored
 * pages have rows of both one after another.
 */
final class ValueColumns {
  private ValueColumns() {}

  /** Where a row of a class begins. */
  static long rowAt(KvSide side, int row, int rowBytes) {
    return side == KvSide.KEYS ? (long) row * rowBytes : InterleavedBytes.offset(row, rowBytes);
  }

  /** From a byte of a row to the next one. */
  static int byteStride(KvSide side) {
    return side == KvSide.KEYS ? 1 : InterleavedBytes.ROWS;
  }

  /** A page's bytes as they are stored, from those in memory. */
  static void toStored(LayerCodeLayout codes, MemorySegment memory, MemorySegment stored) {
    stored.copyFrom(memory);
    for (int head = 0; head < codes.heads().size(); head++) {
      toRows(codes, head, memory, stored, codes.layout().rowsAt(head, KvSide.VALUES));
    }
  }

  /** Rows of a head's values one after another. */
  static void toRows(
      LayerCodeLayout codes, int head, MemorySegment memory, MemorySegment rows, long to) {
    long first = codes.layout().rowsAt(head, KvSide.VALUES);
    for (int i = 0; i < SaliencyTier.COUNT; i++) {
      SaliencyTier tier = SaliencyTier.of(i); // a step takes nothing from the heap
      long at = codes.layout().rowsAt(head, KvSide.VALUES, tier);
      int rowBytes = codes.heads().get(head).of(KvSide.VALUES, tier).rowBytes();
      InterleavedBytes.toRows(memory, at, tier.tokens(), rowBytes, rows, to + at - first);
    }
  }

  /** The inverse of {@link #toStored}. */
  static void fromStored(LayerCodeLayout codes, MemorySegment stored, MemorySegment memory) {
    memory.copyFrom(stored);
    for (int head = 0; head < codes.heads().size(); head++) {
      for (SaliencyTier tier : SaliencyTier.values()) {
        long at = codes.layout().rowsAt(head, KvSide.VALUES, tier);
        int rowBytes = codes.heads().get(head).of(KvSide.VALUES, tier).rowBytes();
        InterleavedBytes.fromRows(stored, at, tier.tokens(), rowBytes, memory, at);
      }
    }
  }
}
