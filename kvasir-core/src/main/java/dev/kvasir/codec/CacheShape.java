package dev.kvasir.codec;

/** The sizes that decide what a position costs. */
public record CacheShape(int layers, int kvHeads, int headDim) {
  /** Values of one position: keys and values of every layer and KV head. */
  public long valuesPerToken() {
    return 2L * layers * kvHeads * headDim;
  }
}
