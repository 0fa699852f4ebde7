package dev.kvasir.kernel;

/**
 * How a {@link QuantizedWeights} keeps the scales of its groups, and their minimums where it has
 * any.
 *
 * @param numbers of scales, and of minimums that are stored
 * @param storesMinimums whether each group has a minimum of its own
 * @param minimumFactor of minimums that are computed, {@code minimum = minimumFactor * scale}; zero
 *     where none are
 */
public record ScaleFormat(ScaleEncoding encoding, boolean storesMinimums, int minimumFactor) {
  /** Columns that share the half of {@link Numbers#PRODUCTS}. */
  public static final int SUPER_BLOCK = 256;

  /**
   * Numbers for the groups of a tile.
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

  /** A float for each scale and each minimum, which holds those of every format. */
  public static ScaleFormat floats(boolean hasMinimums) {
    return new ScaleFormat(ScaleEncoding.FLOATS, hasMinimums, 0);
  }

  public boolean hasMinimums() {
    return storesMinimums || minimumFactor != 0;
  }

  /** Bytes that the scales and minimums of sixteen rows take. */
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
