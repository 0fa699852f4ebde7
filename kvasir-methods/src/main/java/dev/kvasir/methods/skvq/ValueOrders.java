package dev.kvasir.methods.skvq;

import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Channel order of a page's values, head by head.
 *
 * <pre>
 * (kvHeads, valueDim)  u8, u16 where there are more than 256 channels
 * </pre>
 */
record ValueOrders(SkvqShape shape, MemorySegment bytes) {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static ValueOrders of(SharedArena memory, SkvqShape shape, int[][] orders) {
    ValueOrders stored =
        new ValueOrders(shape, memory.allocate((long) orders.length * shape.orderBytes()));
    for (int head = 0; head < orders.length; head++) {
      for (int place = 0; place < shape.valueDim(); place++) {
        stored.put(head, place, orders[head][place]);
      }
    }
    return stored;
  }

  private long at(int head, int place) {
    return (long) head * shape.orderBytes() + (long) place * shape.channelBytes();
  }

  private void put(int head, int place, int channel) {
    if (shape.channelBytes() == 1) {
      bytes.set(ValueLayout.JAVA_BYTE, at(head, place), (byte) channel);
    } else {
      bytes.set(SHORT, at(head, place), (short) channel);
    }
  }

  /** Returns the channel stored at a place. */
  int channelAt(int head, int place) {
    return shape.channelBytes() == 1
        ? Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, at(head, place)))
        : Short.toUnsignedInt(bytes.get(SHORT, at(head, place)));
  }

  /** Fails unless every order is a permutation. */
  void requirePermutations(int kvHeads) {
    for (int head = 0; head < kvHeads; head++) {
      boolean[] seen = new boolean[shape.valueDim()];
      for (int place = 0; place < shape.valueDim(); place++) {
        int channel = channelAt(head, place);
        if (channel >= shape.valueDim() || seen[channel]) {
          throw SnapshotHeader.PAGE.invalid(
              "has in head %d an order of values that is no permutation".formatted(head));
        }
        seen[channel] = true;
      }
    }
  }
}
