package dev.kvasir.codec.mead;

/**
 * What calibration learned about one KV head. Key channels are in pair order, before RoPE. Values
 * are components, {@code y = to . v}.
 *
 * @param keyWeights (keyDim), how much a channel's error counts: the root of the metric's diagonal
 * @param valueTo (valueDim components, valueDim channels)
 * @param valueFrom (valueDim channels, valueDim components)
 * @param attentionTiers statistics of tiers by {@link SaliencyMetric#ATTENTION}
 * @param energyTiers statistics of tiers by {@link SaliencyMetric#ENERGY}
 * @param importance (keys and values, rank buckets), how much an error counts by the token's
 *     attention rank on its page
 * @param meanUnits (valueDim), units of the mean errors of a page's components
 * @param lows (keyDim and valueDim) of table rows
 * @param steps (keyDim and valueDim) of table rows
 * @param rows table rows, four nibbles a word // (rows, words of keys and of values)
 */
public record HeadProfile(
    float[] keyWeights,
    float[] valueTo,
    float[] valueFrom,
    TierStatistics attentionTiers,
    TierStatistics energyTiers,
    float[] importance,
    float[] meanUnits,
    float[] lows,
    float[] steps,
    short[] rows) {
  /** Number of equal buckets that tokens of a page are ranked into by received attention. */
  public static final int RANK_BUCKETS = 8;

  /** Returns the number of words for the nibbles of a vector. */
  static int words(int channels) {
    return Math.ceilDiv(channels, 4);
  }

  /**
   * Packs rows of nibbles into the format of {@link #rows}.
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

  static int nibble(short[] words, int row, int channel) {
    return words[row + channel / 4] >> 4 * (channel % 4) & 15;
  }
}
