package dev.kvasir.codec.mead;

import dev.kvasir.kernel.InterleavedBytes;
import java.lang.foreign.MemorySegment;

/**
 * Memory order of code rows. Key rows are contiguous, since a key is decoded as a whole. Value rows
 * use {@link InterleavedBytes}, since values are summed channel by channel. Serialized pages have
 * contiguous rows of both.
 */
final class ValueColumns {
  private ValueColumns() {}

  /** Returns the offset of a row within its tier. */
  static long rowAt(KvSide side, int row, int rowBytes) {
    return side == KvSide.KEYS ? (long) row * rowBytes : InterleavedBytes.offset(row, rowBytes);
  }

  /** Returns the distance between consecutive bytes of a row. */
  static int byteStride(KvSide side) {
    return side == KvSide.KEYS ? 1 : InterleavedBytes.ROWS;
  }

  /** Converts a page's bytes from memory order to serialized order. */
  static void toStored(LayerCodeLayout codes, MemorySegment memory, MemorySegment stored) {
    stored.copyFrom(memory);
    for (int head = 0; head < codes.heads().size(); head++) {
      toRows(codes, head, memory, stored, codes.layout().rowsAt(head, KvSide.VALUES));
    }
  }

  /** Copies a head's value rows to contiguous rows. */
  static void toRows(
      LayerCodeLayout codes, int head, MemorySegment memory, MemorySegment rows, long to) {
    long first = codes.layout().rowsAt(head, KvSide.VALUES);
    for (int i = 0; i < SaliencyTier.COUNT; i++) {
      SaliencyTier tier = SaliencyTier.of(i); // does not allocate, unlike values()
      long at = codes.layout().rowsAt(head, KvSide.VALUES, tier);
      int rowBytes = codes.heads().get(head).of(KvSide.VALUES, tier).rowBytes();
      InterleavedBytes.toRows(memory, at, tier.tokens(), rowBytes, rows, to + at - first);
    }
  }

  /** Converts a page's bytes from serialized order to memory order. */
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
