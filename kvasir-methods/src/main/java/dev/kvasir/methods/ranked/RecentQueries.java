package dev.kvasir.methods.ranked;

import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.CopyOnWriteMemory;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The queries of a layer's most recent tokens. A token's slot is its position modulo the capacity,
 * and a later position replaces an earlier one. The contents after a step thus do not depend on the
 * order of its threads.
 *
 * <pre>
 * (capacity, queryHeads, keyDim)  f16
 * bytes = 2 * capacity * queryHeads * keyDim
 * </pre>
 *
 * Serialized:
 *
 * <pre>
 * i32  positions (capacity), -1 for none
 * f16  queries (capacity, queryHeads, keyDim)
 * </pre>
 */
final class RecentQueries {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final float LARGEST_HALF = 65504;
  private static final int NOT_FINITE = 0x7C00;
  private static final int EMPTY = -1;

  private final int channels; // of a token's queries
  private final int[] positions; // by slot
  private CopyOnWriteMemory queries;

  RecentQueries(int capacity, int channels, MemoryPool pool) {
    this(new int[capacity], channels, new CopyOnWriteMemory(bytesFor(capacity, channels), pool));
    Arrays.fill(positions, EMPTY);
  }

  private RecentQueries(int[] positions, int channels, CopyOnWriteMemory queries) {
    this.positions = positions;
    this.channels = channels;
    this.queries = queries;
  }

  static long bytesFor(int capacity, int channels) {
    return 2L * capacity * channels;
  }

  synchronized RecentQueries fork() {
    return new RecentQueries(positions.clone(), channels, queries.retain());
  }

  /**
   * @param x (queryHeads, keyDim) from {@code at} on
   */
  synchronized void add(int position, float[] x, int at) {
    int slot = position % positions.length;
    if (position < positions[slot]) {
      return;
    }
    queries = queries.writable();
    positions[slot] = position;
    MemorySegment bytes = queries.bytes();
    long first = 2L * slot * channels;
    for (int i = 0; i < channels; i++) {
      float limited = Math.clamp(x[at + i], -LARGEST_HALF, LARGEST_HALF);
      bytes.set(HALF, first + 2L * i, Float.floatToFloat16(limited));
    }
  }

  int capacity() {
    return positions.length;
  }

  /** Returns the position of the token in a slot; negative if the slot is empty. */
  synchronized int position(int slot) {
    return positions[slot];
  }

  /**
   * @param from first channel to read
   * @param out (count), set
   */
  synchronized void read(int slot, int from, int count, float[] out, int outAt) {
    long first = 2L * (slot * channels + from);
    for (int i = 0; i < count; i++) {
      out[outAt + i] = Float.float16ToFloat(queries.bytes().get(HALF, first + 2L * i));
    }
  }

  synchronized void truncate(int length) {
    for (int slot = 0; slot < positions.length; slot++) {
      if (positions[slot] >= length) {
        positions[slot] = EMPTY;
      }
    }
  }

  static long storedBytes(int capacity, int channels) {
    return (long) capacity * Integer.BYTES + bytesFor(capacity, channels);
  }

  synchronized void write(ByteBuffer out) {
    for (int position : positions) {
      out.putInt(position);
    }
    out.put(queries.bytes().asByteBuffer());
  }

  /** Restores what {@link #write} wrote into an empty buffer. */
  synchronized void read(ByteBuffer in) {
    for (int slot = 0; slot < positions.length; slot++) {
      positions[slot] = in.getInt();
      if (positions[slot] < EMPTY
          || positions[slot] >= 0 && positions[slot] % positions.length != slot) {
        throw SnapshotHeader.STATE.invalid(
            "has the queries of token %d at place %d of %d"
                .formatted(positions[slot], slot, positions.length));
      }
    }
    for (int i = 0; i < positions.length * channels; i++) {
      short half = in.getShort();
      if ((half & NOT_FINITE) == NOT_FINITE) {
        throw SnapshotHeader.STATE.invalid("has a query that is no finite number");
      }
      queries.bytes().set(HALF, 2L * i, half);
    }
  }

  void close() {
    queries.release();
  }
}
