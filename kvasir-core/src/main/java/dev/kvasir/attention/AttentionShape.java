package dev.kvasir.attention;

import dev.kvasir.codec.CacheShape;

/**
 * How many heads look at how many: {@code queryHeads} is a multiple of {@code kvHeads}.
 *
 * @param keyDim channels of a query, as of a key
 * @param valueDim channels of a head's output, as of a value
 * @param scoreCap what scores are bent to stay within; 0 for no bound
 */
public record AttentionShape(int queryHeads, int kvHeads, int keyDim, int valueDim, float softCap) {
  /** Scores without a bound. */
  public AttentionShape(int queryHeads, int kvHeads, int keyDim, int valueDim) {
    this(queryHeads, kvHeads, keyDim, valueDim, 0);
  }

  /** Values as wide as keys. */
  public AttentionShape(int queryHeads, int kvHeads, int headDim) {
    this(queryHeads, kvHeads, headDim, headDim);
  }

  /** Channels of a key as of a value, for what is made for heads of one width. */
  public int headDim() {
    return CacheShape.requireEqualDims(keyDim, valueDim);
  }

  /** Query heads that share a KV head. */
  public int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
