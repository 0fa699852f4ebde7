package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory for some patterns of all heads. A bank grows by one pattern at a time; in a slab those of
 * a head lie side by side, so that they are expanded in one go.
 *
 * <pre>
 * layer | KV head | place | channel, f16
 * bytes = layers * kvHeads * places * headDim * 2
 * </pre>
 *
 * Places are claimed in their order and by one bank each: of two forks that grow, the second finds
 * the place taken and goes on in a slab of its own.
 */
final class PatternSlab {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int kvHeads;
  private final int places;
  private final CountedArena arena;
  private final DenseMatrix rows; // (layers, kvHeads, places) vectors
  private final AtomicInteger claimed = new AtomicInteger();
  private final AtomicInteger holders = new AtomicInteger(1);

  PatternSlab(PatternkvShape shape, MemoryPool pool, int places) {
    this.arena = new CountedArena(pool);
    this.kvHeads = shape.kvHeads();
    this.places = places;
    try {
      MemorySegment bytes = arena.allocate(shape.bytes(places));
      int count = shape.layers() * kvHeads * places;
      this.rows = new DenseMatrix(Precision.F16, count, shape.headDim(), bytes);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /** Answers whether so many places from {@code place} on were the next free ones. */
  boolean claim(int place, int count) {
    return place + count <= places && claimed.compareAndSet(place, place + count);
  }

  /**
   * Places that were the last claimed ones can be claimed again; others wait for the slab's end.
   */
  void giveBack(int place, int count) {
    claimed.compareAndSet(place + count, place);
  }

  /** Sets patterns of a head from a place on: (count, headDim), rounded to halves. */
  void put(int layer, int kvHead, int place, int count, float[] patterns) {
    long offset = rows.offset(row(layer, kvHead) + place);
    for (int i = 0; i < count * rows.columns(); i++) {
      rows.data().set(HALF, offset + 2L * i, Float.floatToFloat16(patterns[i]));
    }
  }

  /** A layer's patterns at some places, as they lie. // (kvHeads, count, headDim) */
  short[] halves(int layer, int place, int count) {
    int ofHead = count * rows.columns();
    short[] halves = new short[kvHeads * ofHead];
    for (int head = 0; head < kvHeads; head++) {
      long offset = rows.offset(row(layer, head) + place);
      MemorySegment.copy(rows.data(), HALF, offset, halves, head * ofHead, ofHead);
    }
    return halves;
  }

  /** Sets what {@link #halves} left. */
  void putHalves(int layer, int place, int count, short[] halves) {
    int ofHead = count * rows.columns();
    for (int head = 0; head < kvHeads; head++) {
      long offset = rows.offset(row(layer, head) + place);
      MemorySegment.copy(halves, head * ofHead, rows.data(), HALF, offset, ofHead);
    }
  }

  /** The patterns of a head at some places as floats. */
  void expand(
      Kernels kernels, int layer, int kvHead, int place, int count, float[] out, int outRow) {
    kernels.expand(rows, row(layer, kvHead) + place, count, out, outRow * rows.columns());
  }

  private int row(int layer, int kvHead) {
    return (layer * kvHeads + kvHead) * places;
  }

  long bytes() {
    return arena.bytes();
  }

  PatternSlab retain() {
    holders.incrementAndGet();
    return this;
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      arena.close();
    }
  }
}
