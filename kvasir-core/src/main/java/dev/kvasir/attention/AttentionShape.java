package dev.kvasir.attention;

import dev.kvasir.codec.CacheShape;

/**
 * How many heads look at how many: {@code queryHeads} is a multiple of {@code kvHeads}.
 *
 * @param keyDim channels of a query, as of a key
 * @param valueDim channels of a head's output, as of a value
 */
public record AttentionShape(int queryHeads, int kvHeads, int keyDim, int valueDim) {
  /** Values as wide as keys. */
  public AttentionShape(int queryHeads, int kvHeads, int headDim) {
    this(queryHeads, kvHeads, headDim, headDim);
  }

  /** Channels of a key as of a value, for what is made for heads of one width. */
  public int headDim() {
    return CacheShape.oneWidth(keyDim, valueDim);
  }

  /** Query heads that share a KV head. */
  public int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
