package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Unquantized keys and values of one token in a layer: a reference-counted slot of {@link
 * SinkSlots}.
 *
 * <pre>
 * f16 (kvHeads, keyDim)    keys, rotated to their position
 * f16 (kvHeads, valueDim)  values
 * bytes = 2 * kvHeads * (keyDim + valueDim)
 * </pre>
 */
final class ExactRows {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int EXPONENT = 0x7C00; // all ones for infinity and NaN

  private final MeadSizes sizes;
  private final MemorySegment rows;
  private final Runnable free;
  private final AtomicInteger refCount = new AtomicInteger(1);

  /**
   * Creates rows with one reference.
   *
   * @param free called when the last reference is released
   */
  ExactRows(MeadSizes sizes, MemorySegment rows, Runnable free) {
    this.sizes = sizes;
    this.rows = rows;
    this.free = free;
  }

  static long bytesFor(MeadSizes sizes) {
    return (long) Short.BYTES * sizes.kvHeads() * (sizes.keyDim() + sizes.valueDim());
  }

  /**
   * @param keys (kvHeads, tokens, keyDim), rotated
   * @param values (kvHeads, tokens, valueDim)
   */
  void write(int token, float[] keys, float[] values) {
    for (int head = 0; head < sizes.kvHeads(); head++) {
      int at = head * Page.TOKENS + token;
      write(keys, at * sizes.keyDim(), keyAt(head), sizes.keyDim());
      write(values, at * sizes.valueDim(), valueAt(head), sizes.valueDim());
    }
  }

  private void write(float[] from, int at, long to, int count) {
    for (int i = 0; i < count; i++) {
      rows.set(HALF, to + (long) Short.BYTES * i, Float.floatToFloat16(from[at + i]));
    }
  }

  private long keyAt(int head) {
    return (long) Short.BYTES * head * sizes.keyDim();
  }

  private long valueAt(int head) {
    return (long) Short.BYTES * (sizes.kvHeads() * sizes.keyDim() + head * sizes.valueDim());
  }

  void readKey(Kernels kernels, int head, float[] out, int at) {
    kernels.halves().expand(rows, keyAt(head), out, at, sizes.keyDim());
  }

  void readValue(Kernels kernels, int head, float[] out, int at) {
    kernels.halves().expand(rows, valueAt(head), out, at, sizes.valueDim());
  }

  MemorySegment bytes() {
    return rows;
  }

  /** Returns whether all halves are finite. */
  static boolean areFinite(MemorySegment rows) {
    for (long at = 0; at < rows.byteSize(); at += Short.BYTES) {
      if ((rows.get(HALF, at) & EXPONENT) == EXPONENT) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether there is a reference. */
  boolean isInUse() {
    return refCount.get() > 0;
  }

  ExactRows retain() {
    refCount.incrementAndGet();
    return this;
  }

  void release() {
    if (refCount.decrementAndGet() == 0) {
      free.run();
    }
  }
}
