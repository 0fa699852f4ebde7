package dev.kvasir.attention;

/** How many heads look at how many: {@code queryHeads} is a multiple of {@code kvHeads}. */
public record AttentionShape(int queryHeads, int kvHeads, int headDim) {
  /** Query heads that share a KV head. */
  public int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
