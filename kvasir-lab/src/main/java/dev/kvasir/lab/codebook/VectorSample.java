package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Keys, as they were before rotation and in the order of pairs, and values of some tokens of a
 * text. The same tokens in all heads, because one scale serves all heads of a token. Numbers are
 * kept as halves, as a cache keeps what is yet to be packed, outside the heap; those of a head lie
 * together, so that who trains a head reads its part of a file and no other.
 *
 * <pre>(sides, layers, kvHeads, count, headDim) halves, little-endian</pre>
 */
public final class VectorSample {
  /** Which of the two a codebook is for. */
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
   * @param count tokens
   * @param halves of {@link #bytes}
   */
  VectorSample(CacheShape shape, int count, MemorySegment halves) {
    this.shape = shape;
    this.count = count;
    this.halves = halves;
  }

  /** One in memory, all zero. */
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

  /** Tokens that are kept. */
  public int count() {
    return count;
  }

  void put(Side side, int layer, int kvHead, int slot, float[] x, int at) {
    long to = at(index(side, layer, kvHead), slot);
    for (int i = 0; i < shape.headDim(); i++) {
      halves.set(HALF, to + (long) Short.BYTES * i, Float.floatToFloat16(x[at + i]));
    }
  }

  /** All vectors of a head: (count, headDim). */
  public float[] vectors(Side side, int layer, int kvHead) {
    short[] from = halves(side, layer, kvHead);
    float[] out = new float[from.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = Float.float16ToFloat(from[i]);
    }
    return out;
  }

  /** The same as they are kept. */
  short[] halves(Side side, int layer, int kvHead) {
    short[] out = new short[count * shape.headDim()];
    MemorySegment.copy(halves, HALF, at(index(side, layer, kvHead), 0), out, 0, out.length);
    return out;
  }

  /**
   * Takes the vectors of some tokens.
   *
   * @param slots where they go
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

  /** The vectors of some tokens as {@link #put(int[], SegmentVectors)} took them. */
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

  /** The place of a head among all. */
  int index(Side side, int layer, int kvHead) {
    return (side.ordinal() * shape.layers() + layer) * shape.kvHeads() + kvHead;
  }
}
