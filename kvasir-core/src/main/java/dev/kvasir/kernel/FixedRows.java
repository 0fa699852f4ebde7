package dev.kvasir.kernel;

/**
 * Rows of which a vector is the sum, one of each set, as whole numbers of 16 bits: twice as many
 * are added at a time as floats would be. Each channel has a unit so large that no sum leaves 16
 * bits. Channels come in pairs that turn together, and pairs are padded as those of a {@link
 * TurnTable}.
 *
 * @param rows // (sets, ROWS, pairs, x and y): a 32-bit lane holds a pair
 * @param units // (x and y, pairs)
 * @param mean added to what the units make of a sum // (x and y, pairs)
 */
public record FixedRows(int sets, int pairs, short[] rows, float[] units, float[] mean) {
  /** Rows of a set. */
  public static final int ROWS = 64;

  /** Numbers of a row. */
  public int width() {
    return 2 * pairs;
  }

  public long bytes() {
    return (long) Short.BYTES * rows.length + (long) Float.BYTES * (units.length + mean.length);
  }
}
