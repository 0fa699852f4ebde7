package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Sampled keys, before rotation and in pair order, and values of a text. All heads have the same
 * tokens, because one scale serves all heads of a token. Elements are fp16 as in a cache's residual
 * window, stored off heap; the data of a head is contiguous, so that training a head reads only its
 * part of a file.
 *
 * <pre>(sides, layers, kvHeads, count, headDim) halves, little-endian</pre>
 */
public final class VectorSample {
  /** Whether a codebook is for keys or values. */
  public enum Side {
    KEYS,
    VALUES
  }

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CacheShape shape;
  private final int count;
  private final MemorySegment halves;

  /**
   * @param count number of tokens
   * @param halves memory of {@link #bytes}
   */
  VectorSample(CacheShape shape, int count, MemorySegment halves) {
    this.shape = shape;
    this.count = count;
    this.halves = halves;
  }

  /** Returns a zeroed sample in memory. */
  static VectorSample zero(CacheShape shape, int count) {
    return new VectorSample(shape, count, Arena.ofAuto().allocate(bytes(shape, count)));
  }

  static long bytes(CacheShape shape, int count) {
    return heads(shape) * bytesOfHead(shape, count);
  }

  static long heads(CacheShape shape) {
    return (long) Side.values().length * shape.layers() * shape.kvHeads();
  }

  private static long bytesOfHead(CacheShape shape, int count) {
    return (long) Short.BYTES * count * shape.headDim();
  }

  public CacheShape shape() {
    return shape;
  }

  /** Returns the number of sampled tokens. */
  public int count() {
    return count;
  }

  void put(Side side, int layer, int kvHead, int slot, float[] x, int at) {
    long to = at(index(side, layer, kvHead), slot);
    for (int i = 0; i < shape.headDim(); i++) {
      halves.set(HALF, to + (long) Short.BYTES * i, Float.floatToFloat16(x[at + i]));
    }
  }

  /** Returns all vectors of a head: (count, headDim). */
  public float[] vectors(Side side, int layer, int kvHead) {
    short[] from = halves(side, layer, kvHead);
    float[] out = new float[from.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = Float.float16ToFloat(from[i]);
    }
    return out;
  }

  /** Returns all vectors of a head as stored. */
  short[] halves(Side side, int layer, int kvHead) {
    short[] out = new short[count * shape.headDim()];
    MemorySegment.copy(halves, HALF, at(index(side, layer, kvHead), 0), out, 0, out.length);
    return out;
  }

  /** Returns the vectors of adjacent heads side by side: (count, heads * headDim). */
  short[] halves(Side side, int layer, int firstHead, int heads) {
    if (heads == 1) {
      return halves(side, layer, firstHead);
    }
    int headDim = shape.headDim();
    short[] out = new short[count * heads * headDim];
    for (int head = 0; head < heads; head++) {
      short[] own = halves(side, layer, firstHead + head);
      for (int i = 0; i < count; i++) {
        System.arraycopy(own, i * headDim, out, (i * heads + head) * headDim, headDim);
      }
    }
    return out;
  }

  /**
   * Stores the vectors of some tokens.
   *
   * @param slots slots of the tokens
   */
  void put(int[] slots, SegmentVectors vectors) {
    int row = Short.BYTES * shape.headDim();
    for (int head = 0; head < heads(shape); head++) {
      MemorySegment from = MemorySegment.ofArray(vectors.heads()[head]);
      for (int i = 0; i < slots.length; i++) {
        MemorySegment.copy(from, (long) i * row, halves, at(head, slots[i]), row);
      }
    }
  }

  /** Returns the vectors of some tokens as {@link #put(int[], SegmentVectors)} stored them. */
  SegmentVectors at(int[] slots) {
    int row = Short.BYTES * shape.headDim();
    byte[][] heads = new byte[(int) heads(shape)][slots.length * row];
    for (int head = 0; head < heads.length; head++) {
      MemorySegment to = MemorySegment.ofArray(heads[head]);
      for (int i = 0; i < slots.length; i++) {
        MemorySegment.copy(halves, at(head, slots[i]), to, (long) i * row, row);
      }
    }
    return new SegmentVectors(heads);
  }

  private long at(int head, int slot) {
    return head * bytesOfHead(shape, count) + (long) Short.BYTES * slot * shape.headDim();
  }

  /** Returns the index of a head among all. */
  int index(Side side, int layer, int kvHead) {
    return (side.ordinal() * shape.layers() + layer) * shape.kvHeads() + kvHead;
  }
}
