package dev.kvasir.kernel;

/**
 * How {@link QuantizedWeights} store the scales of their groups and, if present, the minimums.
 *
 * @param encoding of scales, and of stored minimums
 * @param storesMinimums whether each group stores a minimum
 * @param minimumFactor for computed minimums, {@code minimum = minimumFactor * scale}; zero if
 *     there are none
 */
public record ScaleFormat(ScaleEncoding encoding, boolean storesMinimums, int minimumFactor) {
  /** Columns that share the half of {@link ScaleEncoding#PRODUCTS}. */
  public static final int SUPER_BLOCK = 256;

  /**
   * How the numbers of a tile's groups are stored.
   *
   * <pre>
   * floats:    group | row 0..15 of f32
   * halves:    group | row 0..15 of f16
   * products:  256 columns | row 0..15 of f16 | group | row 0..15 of a signed byte;
   *            number = f16 * byte, which 24 bits hold exactly
   *
   * bytes of a tile = 16 * 4 * groups, 16 * 2 * groups, 16 * (groups + columns / 256 * 2)
   * </pre>
   */
  public enum ScaleEncoding {
    FLOATS,
    HALVES,
    PRODUCTS;

    long tileBytes(long columns, int groupLength) {
      long groups = columns / groupLength;
      long rowBytes =
          switch (this) {
            case FLOATS -> groups * Float.BYTES;
            case HALVES -> groups * Short.BYTES;
            case PRODUCTS -> groups + columns / SUPER_BLOCK * Short.BYTES;
          };
      return QuantizedWeights.TILE_ROWS * rowBytes;
    }
  }

  public ScaleFormat {
    if (storesMinimums && minimumFactor != 0) {
      throw new IllegalArgumentException("minimums are either stored or computed, not both");
    }
  }

  /** Returns the format with a float per scale and minimum, which represents every GGUF format. */
  public static ScaleFormat floats(boolean hasMinimums) {
    return new ScaleFormat(ScaleEncoding.FLOATS, hasMinimums, 0);
  }

  public boolean hasMinimums() {
    return storesMinimums || minimumFactor != 0;
  }

  /** Returns the bytes of the scales and minimums of sixteen rows. */
  long tileBytes(long columns, int groupLength) {
    return encoding.tileBytes(columns, groupLength) * (storesMinimums ? 2 : 1);
  }

  void requireFit(int columns, int groupLength) {
    if (encoding == ScaleEncoding.HALVES && groupLength != 32) {
      throw new IllegalArgumentException(
          "groupLength is %d; expected 32 with a half for each scale".formatted(groupLength));
    }
    if (encoding == ScaleEncoding.PRODUCTS && columns % SUPER_BLOCK != 0) {
      throw new IllegalArgumentException(
          "columns are %d; expected a multiple of %d with scales that are products"
              .formatted(columns, SUPER_BLOCK));
    }
  }
}
