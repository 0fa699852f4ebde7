package dev.kvasir.codec.pattern;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A bank of patterns for the keys, or for the values, of a sequence in all layers. A bank only ever
 * grows, so each addition is a part that holds the parts before it: pages point to the part that
 * was the last when they were sealed, and forks share what they have in common without copying.
 *
 * <pre>
 * one part: layer | KV head | pattern | channel, f16
 * bytes = layers * kvHeads * patterns * headDim * 2
 * </pre>
 */
public final class Patterns {
  /** Indices are bytes, and one of them says that a vector has no pattern. */
  public static final int MOST = 255;

  public static final int NONE = 255;

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Patterns before; // null in the first part
  private final int position;
  private final int kvHeads;
  private final int first;
  private final int added;
  private final CountedArena arena = new CountedArena();
  private final DenseMatrix rows; // (layers, kvHeads, added) vectors
  private final AtomicInteger holders = new AtomicInteger(1);

  /**
   * @param before what there was, which is held too; null where there was nothing
   * @param position of the first token that may have one of the new patterns
   * @param added patterns for each layer and head, to be put
   */
  Patterns(Patterns before, int position, int layers, int kvHeads, int headDim, int added) {
    this.before = before;
    this.position = position;
    this.kvHeads = kvHeads;
    this.first = before == null ? 0 : before.count();
    this.added = added;
    try {
      int count = layers * kvHeads * added;
      MemorySegment bytes = arena.allocate((long) Short.BYTES * count * headDim);
      this.rows = new DenseMatrix(Precision.F16, count, headDim, bytes);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
    if (before != null) {
      before.retain();
    }
  }

  /** Sets this part's patterns of a head: (added, headDim), rounded to halves. */
  void put(int layer, int kvHead, float[] patterns) {
    long offset = rows.offset(row(layer, kvHead));
    for (int i = 0; i < added * rows.columns(); i++) {
      rows.data().set(HALF, offset + 2L * i, Float.floatToFloat16(patterns[i]));
    }
  }

  private int row(int layer, int kvHead) {
    return (layer * kvHeads + kvHead) * added;
  }

  /** The part that this one was added to; null if it is the first. */
  Patterns before() {
    return before;
  }

  int position() {
    return position;
  }

  /** Patterns of a layer and head. */
  public int count() {
    return first + added;
  }

  private int columns() {
    return rows.columns();
  }

  /** The patterns of a head from {@code from} on as floats: (patterns, headDim), from the first. */
  public void expand(Kernels kernels, int layer, int kvHead, int from, float[] out) {
    for (Patterns part = this; part != null && part.count() > from; part = part.before) {
      kernels.expand(
          part.rows, part.row(layer, kvHead), part.added, out, part.first * part.columns());
    }
  }

  /** What this part and those before it take. */
  long bytes() {
    return arena.bytes() + (before == null ? 0 : before.bytes());
  }

  Patterns retain() {
    holders.incrementAndGet();
    return this;
  }

  /** The last one to let go frees it, and lets go of the part before. */
  void release() {
    Patterns part = this;
    while (part != null && part.holders.decrementAndGet() == 0) {
      part.arena.close();
      part = part.before;
    }
  }
}
