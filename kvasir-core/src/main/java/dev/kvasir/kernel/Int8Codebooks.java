package dev.kvasir.kernel;

/**
 * Rows of which a vector is the sum, one of each set, as bytes: what adds them up waits for memory,
 * and four times as many fit into the caches of a processor as floats would. Channels come in pairs
 * that turn together, and pairs are padded as those of a {@link RopeTable}. Both channels of a pair
 * have one unit, so a row that is another one turned by a quarter is so in bytes too.
 *
 * @param rows numbers from -127 to 127, and {@link #ZERO_POINT} added // (sets, ROWS, pairs, x and
 *     y)
 * @param units // (pairs)
 * @param mean added to what the units make of a sum // (x and y, pairs)
 */
public record Int8Codebooks(int sets, int pairs, byte[] codewords, float[] units, float[] mean) {
  /** Rows of a set. */
  public static final int CODEWORDS = 64;

  /** The byte that stands for nothing. */
  public static final int ZERO_POINT = 128;

  /** Sums of bytes fit 16 bits: 257 * 255 is 65535. */
  public static final int MAX_SETS = 257;

  public Int8Codebooks {
    if (sets > MAX_SETS) {
      throw new IllegalArgumentException(
          "%d sets of rows; sums of more than %d leave 16 bits".formatted(sets, MAX_SETS));
    }
  }

  /** Numbers of a row. */
  public int width() {
    return 2 * pairs;
  }

  public long bytes() {
    return codewords.length + (long) Float.BYTES * (units.length + mean.length);
  }

  /**
   * What a row's bytes stand for.
   *
   * @param row counted through all sets
   * @param out // (x and y, pairs), set
   */
  public void dequantize(int row, float[] out) {
    for (int pair = 0; pair < pairs; pair++) {
      int at = 2 * (row * pairs + pair);
      out[pair] = ((codewords[at] & 0xFF) - ZERO_POINT) * units[pair];
      out[pairs + pair] = ((codewords[at + 1] & 0xFF) - ZERO_POINT) * units[pair];
    }
  }
}
