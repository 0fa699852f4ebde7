package dev.kvasir.codec.mead;

/**
 * What was learned of one KV head. Channels of keys are in the order of pairs, as they were before
 * rotation; values are components, {@code y = to . v}.
 *
 * @param keyWeights (keyDim), how far a channel's error reaches: the root of the metric's diagonal
 * @param valueTo (valueDim components, valueDim channels)
 * @param valueFrom (valueDim channels, valueDim components)
 * @param deviations (classes, keyDim and valueDim) of what tables leave: of keys times their
 *     weights, and of components
 * @param classWeights (classes, keys and values), how much an error of such a token counts
 * @param importance (keys and values, ranks), how much an error counts by the token's rank on its
 *     page
 * @param meanUnits (valueDim) of mean errors of a page's components
 * @param lows (keyDim and valueDim) of table rows
 * @param steps (keyDim and valueDim) of table rows
 * @param rows table rows, four nibbles a word // (rows, words of keys and of values)
 */
public record HeadProfile(
    float[] keyWeights,
    float[] valueTo,
    float[] valueFrom,
    float[] deviations,
    float[] tierWeights,
    float[] importance,
    float[] meanUnits,
    float[] lows,
    float[] steps,
    short[] rows) {
  /** Ranks on a page by received attention are told apart in so many equal parts. */
  public static final int RANK_BUCKETS = 8;

  /** Words that hold the nibbles of so many channels. */
  static int words(int channels) {
    return Math.ceilDiv(channels, 4);
  }

  /**
   * Rows of nibbles as {@link #rows} has them.
   *
   * @param keys (rows, keyDim)
   * @param values (rows, valueDim)
   */
  public static short[] packNibbles(byte[] keys, int keyDim, byte[] values, int valueDim) {
    int rows = keys.length / keyDim;
    int words = words(keyDim) + words(valueDim);
    short[] packed = new short[rows * words];
    for (int row = 0; row < rows; row++) {
      pack(keys, row * keyDim, keyDim, packed, row * words);
      pack(values, row * valueDim, valueDim, packed, row * words + words(keyDim));
    }
    return packed;
  }

  private static void pack(byte[] nibbles, int at, int count, short[] words, int first) {
    for (int i = 0; i < count; i++) {
      words[first + i / 4] |= (short) (nibbles[at + i] << 4 * (i % 4));
    }
  }

  /** The nibble of a channel in a row of words. */
  static int nibble(short[] words, int row, int channel) {
    return words[row + channel / 4] >> 4 * (channel % 4) & 15;
  }
}
