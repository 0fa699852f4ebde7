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
 * Memory for several patterns of all heads. A bank grows by one pattern at a time; a slab keeps
 * those of a head adjacent, so that they are converted to floats together.
 *
 * <pre>
 * layer | KV head | slot | channel, f16
 * bytes = layers * kvHeads * slots * headDim * 2
 * </pre>
 *
 * <p>Slots are claimed in order, each by one bank. If two forks grow, the second finds the slot
 * taken and continues in its own slab.
 */
final class PatternSlab {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int kvHeads;
  private final int slots;
  private final CountedArena arena;
  private final DenseMatrix rows; // (layers, kvHeads, slots) vectors
  private final AtomicInteger claimed = new AtomicInteger();
  private final AtomicInteger references = new AtomicInteger(1);

  PatternSlab(PatternBankShape shape, MemoryPool pool, int slots) {
    this.arena = new CountedArena(pool);
    this.kvHeads = shape.kvHeads();
    this.slots = slots;
    try {
      MemorySegment bytes = arena.allocate(shape.bytes(slots));
      int count = shape.layers() * kvHeads * slots;
      this.rows = new DenseMatrix(Precision.F16, count, shape.headDim(), bytes);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Claims {@code count} slots from {@code slot} on; returns whether they were the next free ones.
   */
  boolean claim(int slot, int count) {
    return slot + count <= slots && claimed.compareAndSet(slot, slot + count);
  }

  /** Frees slots if they were claimed last. Others remain claimed until the slab is closed. */
  void unclaim(int slot, int count) {
    claimed.compareAndSet(slot + count, slot);
  }

  /** Sets patterns of a head from a slot on: (count, headDim), rounded to fp16. */
  void put(int layer, int kvHead, int slot, int count, float[] patterns) {
    long offset = rows.offset(row(layer, kvHead) + slot);
    for (int i = 0; i < count * rows.columns(); i++) {
      rows.data().set(HALF, offset + 2L * i, Float.floatToFloat16(patterns[i]));
    }
  }

  /** Returns a layer's patterns at some slots. // (kvHeads, count, headDim) */
  short[] halves(int layer, int slot, int count) {
    int ofHead = count * rows.columns();
    short[] halves = new short[kvHeads * ofHead];
    for (int head = 0; head < kvHeads; head++) {
      long offset = rows.offset(row(layer, head) + slot);
      MemorySegment.copy(rows.data(), HALF, offset, halves, head * ofHead, ofHead);
    }
    return halves;
  }

  /** Sets a layer's patterns as returned by {@link #halves}. */
  void putHalves(int layer, int slot, int count, short[] halves) {
    int ofHead = count * rows.columns();
    for (int head = 0; head < kvHeads; head++) {
      long offset = rows.offset(row(layer, head) + slot);
      MemorySegment.copy(halves, head * ofHead, rows.data(), HALF, offset, ofHead);
    }
  }

  /** Writes the patterns of a head at some slots as floats. */
  void expand(
      Kernels kernels, int layer, int kvHead, int slot, int count, float[] out, int outRow) {
    kernels.expand(rows, row(layer, kvHead) + slot, count, out, outRow * rows.columns());
  }

  private int row(int layer, int kvHead) {
    return (layer * kvHeads + kvHead) * slots;
  }

  long bytes() {
    return arena.bytes();
  }

  PatternSlab retain() {
    references.incrementAndGet();
    return this;
  }

  void release() {
    if (references.decrementAndGet() == 0) {
      arena.close();
    }
  }
}
