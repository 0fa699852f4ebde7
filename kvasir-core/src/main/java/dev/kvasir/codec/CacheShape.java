package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;

/**
 * The sizes that decide what a position costs. Blocks count their vectors, and a layer's channels
 * of a page, in ints.
 */
public record CacheShape(int layers, int kvHeads, int headDim) {
  /** KV heads of all layers at the most: each has a key and a value for every token of a block. */
  public static final int MOST_HEADS = Integer.MAX_VALUE / (2 * Page.TOKENS);

  /** Channels of all KV heads of a layer at the most. */
  private static final int MOST_CHANNELS = Integer.MAX_VALUE / Page.TOKENS;

  public CacheShape {
    if ((long) layers * kvHeads > MOST_HEADS) {
      throw new InvalidInputException(
          "a cache of %d layers with %d KV heads each; expected at most %d heads in all"
              .formatted(layers, kvHeads, MOST_HEADS));
    }
    if ((long) kvHeads * headDim > MOST_CHANNELS) {
      throw new InvalidInputException(
          "a cache of %d KV heads with %d channels each; expected at most %d channels in all"
              .formatted(kvHeads, headDim, MOST_CHANNELS));
    }
  }

  /** Values of one position: keys and values of every layer and KV head. */
  public long valuesPerToken() {
    return 2L * layers * kvHeads * headDim;
  }
}
