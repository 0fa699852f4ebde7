package dev.kvasir.codec.mead;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The first layer's keys and values of each token id, as halves, before RoPE. They depend on the
 * token alone.
 *
 * @param keys (vocabulary, kvHeads, keyWidth)
 * @param values (vocabulary, kvHeads, valueDim)
 */
record TokenKvTable(int vocabulary, MemorySegment keys, MemorySegment values) {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static TokenKvTable of(MeadSizes sizes, MeadProfile.FirstLayer rows, SegmentAllocator memory) {
    int heads = rows.vocabulary() * sizes.kvHeads();
    MemorySegment keys = memory.allocate((long) Short.BYTES * heads * sizes.keyWidth());
    MemorySegment values = memory.allocate((long) Short.BYTES * heads * sizes.valueDim());
    for (int head = 0; head < heads; head++) {
      float[] lanes = sizes.inLanes(KvSide.KEYS, rows.keys(), head * sizes.keyDim());
      write(lanes, 0, sizes.keyWidth(), keys, head);
      write(rows.values(), head * sizes.valueDim(), sizes.valueDim(), values, head);
    }
    return new TokenKvTable(rows.vocabulary(), keys, values);
  }

  private static void write(float[] from, int at, int count, MemorySegment to, int row) {
    for (int i = 0; i < count; i++) {
      long place = (long) Short.BYTES * ((long) row * count + i);
      to.set(SHORT, place, Float.floatToFloat16(from[at + i]));
    }
  }

  long bytes() {
    return keys.byteSize() + values.byteSize();
  }
}
