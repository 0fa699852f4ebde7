package dev.kvasir.kernel;

/**
 * Additive codebooks as bytes: a vector is the sum of one codeword of each set. Summation is bound
 * by memory, and four times as many bytes as floats fit into the processor's caches. Channels come
 * in rotary pairs, padded like those of a {@link RopeTable}. Both channels of a pair share a unit,
 * so a codeword that is another one rotated by 90 degrees is so in bytes too.
 *
 * @param codewords numbers from -127 to 127 plus {@link #ZERO_POINT} // (sets, CODEWORDS, pairs, x
 *     and y)
 * @param units // (pairs)
 * @param mean added to a sum after multiplication by the units // (x and y, pairs)
 */
public record Int8Codebooks(int sets, int pairs, byte[] codewords, float[] units, float[] mean) {
  /** Codewords per set. */
  public static final int CODEWORDS = 64;

  /** The byte that represents zero. */
  public static final int ZERO_POINT = 128;

  /** Keeps sums of bytes within 16 bits: 257 * 255 is 65535. */
  public static final int MAX_SETS = 257;

  public Int8Codebooks {
    if (sets > MAX_SETS) {
      throw new IllegalArgumentException(
          "%d sets of rows; sums of more than %d leave 16 bits".formatted(sets, MAX_SETS));
    }
  }

  /** Returns the numbers per codeword. */
  public int width() {
    return 2 * pairs;
  }

  public long bytes() {
    return codewords.length + (long) Float.BYTES * (units.length + mean.length);
  }

  /**
   * Writes a codeword as floats.
   *
   * @param row index over all sets
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
