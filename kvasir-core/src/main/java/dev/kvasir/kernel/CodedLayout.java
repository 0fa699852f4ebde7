package dev.kvasir.kernel;

/**
 * How the codes of a tile lie in memory: as the kernels that multiply it want them. A tile is
 * sixteen rows; both layouts take the same bytes.
 */
public enum CodedLayout {
  /**
   * For 16-bit multiplications: a 16-bit lane belongs to one row, so that a vector holds the same
   * columns of many rows and no sum across lanes is ever needed.
   *
   * <pre>
   * 8 bits: pair of columns | row 0..15 | low byte: even column + 128, high byte: odd column
   * 4 bits: quad of columns | row 0..15 | nibbles: column 0 lowest, codes 0..15
   * scales: group | rows 0 2 4 .. 14, then 1 3 5 .. 15
   * </pre>
   *
   * <p>The lane is multiplied whole. With x = odd * 256 + (even + 128), 16-bit arithmetic that
   * wraps gives {@code x * a0 + (x >> 8) * (a1 - 256 * a0) = (even + 128) * a0 + odd * a1}, so a
   * column costs one multiplication and no unpacking; nibbles telescope the same way. The order of
   * scales is the one in which 32-bit sums leave the lanes: low halves are even rows, high halves
   * odd ones.
   */
  LANES {
    @Override
    int byteOf(int row, int column, int bits) {
      return bits == 8
          ? 2 * (column / 2 * ROWS + row) + column % 2
          : 2 * (column / 4 * ROWS + row) + column % 4 / 2;
    }

    @Override
    int nibbleOf(int column) {
      return column % 2;
    }

    @Override
    int lifted(int column) {
      return column % 2 == 0 ? 0x80 : 0;
    }

    @Override
    int scalePlace(int row) {
      return (row & 1) * (ROWS / 2) + (row >> 1);
    }

    @Override
    void layBytes(byte[] codes, int at, int columns, int row, byte[] tile) {
      for (int from = at, to = 2 * row; from < at + columns; from += 2, to += 2 * ROWS) {
        tile[to] = (byte) (codes[from] ^ 0x80);
        tile[to + 1] = codes[from + 1];
      }
    }
  },

  /**
   * For dot products of four bytes: a 32-bit lane belongs to one row.
   *
   * <pre>
   * 8 bits: four columns | row 0..15 | 4 signed bytes
   * 4 bits: eight columns | row 0..15 | 4 bytes: columns 0..3 in the low nibbles, 4..7 in the high
   * scales: group | row 0..15
   * </pre>
   */
  DOTS {
    @Override
    int byteOf(int row, int column, int bits) {
      return 4 * (column / (bits == 8 ? 4 : 8) * ROWS + row) + column % 4;
    }

    @Override
    int nibbleOf(int column) {
      return column / 4 % 2;
    }

    @Override
    int lifted(int column) {
      return 0;
    }

    @Override
    int scalePlace(int row) {
      return row;
    }

    @Override
    void layBytes(byte[] codes, int at, int columns, int row, byte[] tile) {
      for (int from = at, to = 4 * row; from < at + columns; from += 4, to += 4 * ROWS) {
        tile[to] = codes[from];
        tile[to + 1] = codes[from + 1];
        tile[to + 2] = codes[from + 2];
        tile[to + 3] = codes[from + 3];
      }
    }
  };

  private static final int ROWS = CodedMatrix.TILE_ROWS;

  /** Which byte of a tile holds a code. */
  abstract int byteOf(int row, int column, int bits);

  /** Which nibble of its byte, 0 for the lower. */
  abstract int nibbleOf(int column);

  /** What a byte is combined with: 0x80 where it is kept from 0 to 255. */
  abstract int lifted(int column);

  /** Which of a group's sixteen scales belongs to a row. */
  abstract int scalePlace(int row);

  /**
   * Lays down a row of bytes to where {@link #byteOf} says, by few instructions a code: a fresh
   * process does this to all weights before it is compiled.
   */
  abstract void layBytes(byte[] codes, int at, int columns, int row, byte[] tile);

  /** Lays down a row's codes among those of its tile, whose nibbles were zeros. */
  final void lay(byte[] codes, int at, int columns, int bits, int row, byte[] tile) {
    if (bits == 8) {
      layBytes(codes, at, columns, row, tile);
    } else {
      for (int column = 0; column < columns; column++) {
        tile[byteOf(row, column, 4)] |= (byte) (codes[at + column] << 4 * nibbleOf(column));
      }
    }
  }

  /** A row's codes, out of those of its tile. */
  final void take(byte[] tile, int row, int columns, int bits, byte[] codes) {
    if (bits == 8) {
      for (int column = 0; column < columns; column++) {
        codes[column] = (byte) (tile[byteOf(row, column, 8)] ^ lifted(column));
      }
    } else {
      for (int column = 0; column < columns; column++) {
        codes[column] = (byte) (tile[byteOf(row, column, 4)] >> 4 * nibbleOf(column) & 15);
      }
    }
  }
}
