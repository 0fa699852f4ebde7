package dev.kvasir.attention;

import dev.kvasir.codec.CacheShape;

/**
 * The head counts and dimensions of attention: {@code queryHeads} is a multiple of {@code kvHeads}.
 *
 * @param keyDim channels of a query and of a key
 * @param valueDim channels of a value and of a head's output
 * @param softCap bound that scores are soft-capped to; 0 for none
 */
public record AttentionShape(int queryHeads, int kvHeads, int keyDim, int valueDim, float softCap) {
  /** Creates a shape without a soft cap. */
  public AttentionShape(int queryHeads, int kvHeads, int keyDim, int valueDim) {
    this(queryHeads, kvHeads, keyDim, valueDim, 0);
  }

  /** Creates a shape with values as wide as keys. */
  public AttentionShape(int queryHeads, int kvHeads, int headDim) {
    this(queryHeads, kvHeads, headDim, headDim);
  }

  /** Returns the width of keys and values where both must be the same. */
  public int headDim() {
    return CacheShape.requireEqualDims(keyDim, valueDim);
  }

  public int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
