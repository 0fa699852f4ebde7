package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import java.util.SplittableRandom;

/**
 * Keys, as they were before rotation and in the order of pairs, and values of some tokens of a long
 * text, each token as likely as any other (reservoir sampling, Vitter's algorithm R), whatever the
 * length of the text. The same tokens in all heads, because one scale serves all heads of a token.
 * Numbers are kept as halves, as a cache keeps what is yet to be packed.
 *
 * <pre>bytes = 2 * capacity * values of a token</pre>
 */
public final class VectorSample {
  /** Which of the two a codebook is for. */
  public enum Side {
    KEYS,
    VALUES
  }

  private final CacheShape shape;
  private final int capacity;
  private final short[][] vectors; // (sides, layers, kvHeads) of (capacity, headDim)
  private final SplittableRandom random;
  private long seen;

  /**
   * @param capacity tokens that are kept at the most
   */
  public VectorSample(CacheShape shape, int capacity, long seed) {
    this.shape = shape;
    this.capacity = capacity;
    this.vectors =
        new short[Side.values().length * shape.layers() * shape.kvHeads()]
            [capacity * shape.headDim()];
    this.random = new SplittableRandom(seed);
  }

  public CacheShape shape() {
    return shape;
  }

  /** Tokens that are kept. */
  public int count() {
    return (int) Math.min(seen, capacity);
  }

  /** Says where the next token's vectors go, negative where it is passed over. */
  int nextSlot() {
    seen++;
    if (seen <= capacity) {
      return (int) seen - 1;
    }
    long drawn = random.nextLong(seen);
    return drawn < capacity ? (int) drawn : -1;
  }

  void put(Side side, int layer, int kvHead, int slot, float[] x, int at) {
    short[] to = vectors[index(side, layer, kvHead)];
    int headDim = shape.headDim();
    for (int i = 0; i < headDim; i++) {
      to[slot * headDim + i] = Float.floatToFloat16(x[at + i]);
    }
  }

  /** All vectors of a head: (count, headDim). */
  public float[] vectors(Side side, int layer, int kvHead) {
    short[] from = vectors[index(side, layer, kvHead)];
    float[] out = new float[count() * shape.headDim()];
    for (int i = 0; i < out.length; i++) {
      out[i] = Float.float16ToFloat(from[i]);
    }
    return out;
  }

  private int index(Side side, int layer, int kvHead) {
    return (side.ordinal() * shape.layers() + layer) * shape.kvHeads() + kvHead;
  }
}
