package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The bit layout of a matrix of codes: {@code rows} codes of {@code bits} bits for each of {@code
 * columns} columns. Sums run over rows; columns are independent of each other. For keys a column is
 * a token and a row a channel; for values a column is a channel and a row a token.
 *
 * <p>Four consecutive rows form a quad. A 32-bit word belongs to one column, and each of its bytes
 * to one row of several quads. A shift and a mask leave a quad's four codes in the four bytes, the
 * operand of byte dot-product instructions.
 *
 * <pre>
 * tile of 16 columns
 *   part of a width, low bits of the codes first: 8, 4, 2 and 1 where bits has them (3 = 2 + 1)
 *     P = 8 / width quads share a word
 *     word 0 .. Q / P - 1, each (16 columns) x 4 bytes:
 *       byte j, bits k * width on: row 4 (P * word + k) + j,  k = 0 .. P-1
 *     the Q % P quads that fill no word, as runs of one byte per column:
 *       their codes one after another from the lowest bit on
 *
 * bytes = columns * sum over parts of ceil(Q * width / 2),  Q = rows / 4
 * </pre>
 */
public record WordLayout(int columns, int rows, int bits) {
  /** Columns of a tile. */
  public static final int TILE = 16;

  /** Bytes from one word of a tile's columns to the next. */
  public static final int ROW_BYTES = 4 * TILE;

  /** The width of the widest part of a code. */
  public static final int WIDEST = 8;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  public WordLayout {
    if (columns < TILE || columns % TILE != 0) {
      throw new IllegalArgumentException(
          "columns is %d; expected a multiple of %d".formatted(columns, TILE));
    }
    if (rows < 4 || rows % 4 != 0) {
      throw new IllegalArgumentException("rows is %d; expected a multiple of 4".formatted(rows));
    }
    if (bits < 1 || bits > 8) {
      throw new IllegalArgumentException("bits is %d; expected 1 to 8".formatted(bits));
    }
  }

  /** Returns the layout with rows padded to quads and columns padded to tiles. */
  public static WordLayout padded(int rows, int columns, int bits) {
    return new WordLayout(Math.ceilDiv(columns, TILE) * TILE, Math.ceilDiv(rows, 4) * 4, bits);
  }

  public int quads() {
    return rows / 4;
  }

  /** Returns whether a code has a part of that width, a power of two. */
  public boolean hasPart(int width) {
    return (bits & width) != 0;
  }

  /** Returns the bits of a code below its part of that width, which belong to wider parts. */
  public int shift(int width) {
    return bits & -2 * width;
  }

  /** Returns the words of a column in the part of that width. */
  public int words(int width) {
    return quads() * width / 8;
  }

  /** Returns the quads that do not fill a word, in the part of that width. */
  public int remainderQuads(int width) {
    return quads() % (8 / width);
  }

  public int partBytes(int width) {
    return Math.ceilDiv(quads() * width, 2);
  }

  public int bytesPerColumn() {
    int bytes = 0;
    for (int width = WIDEST; width > 0; width /= 2) {
      bytes += hasPart(width) ? partBytes(width) : 0;
    }
    return bytes;
  }

  public int bytes() {
    return columns * bytesPerColumn();
  }

  public int tiles() {
    return columns / TILE;
  }

  public int tileBytes() {
    return TILE * bytesPerColumn();
  }

  /**
   * Packs codes.
   *
   * @param codes (rows, columns), each below {@code 2^bits}
   */
  public void pack(CodeScratch scratch, byte[] codes, MemorySegment target, long offset) {
    byte[] packed = scratch.packed(bytes());
    Arrays.fill(packed, 0, bytes(), (byte) 0);
    int at = 0; // in a tile
    for (int width = WIDEST; width > 0; width /= 2) {
      if (hasPart(width)) {
        for (int word = 0; word < words(width); word++) {
          packWord(width, word, codes, scratch.words(columns), packed, at + word * ROW_BYTES);
        }
        for (int tile = 0; tile < tiles(); tile++) {
          packRemainder(width, codes, tile * TILE, packed, at + tile * tileBytes());
        }
        at += TILE * partBytes(width);
      }
    }
    MemorySegment.copy(packed, 0, target, ValueLayout.JAVA_BYTE, offset, bytes());
  }

  /** Packs one word of every column; loops over all columns are long enough to vectorize. */
  private void packWord(
      int width, int word, byte[] codes, int[] words, byte[] packed, int atOfTile) {
    int perByte = 8 / width;
    int mask = (1 << width) - 1;
    int shift = shift(width);
    Arrays.fill(words, 0, columns, 0);
    for (int i = 0; i < 4 * perByte; i++) {
      int from = (4 * perByte * word + i) * columns;
      int place = 8 * (i % 4) + i / 4 * width;
      for (int column = 0; column < columns; column++) {
        words[column] |= (codes[from + column] >> shift & mask) << place;
      }
    }
    int tileBytes = tileBytes();
    for (int column = 0; column < columns; column++) {
      INT.set(packed, atOfTile + column / TILE * tileBytes + 4 * (column % TILE), words[column]);
    }
  }

  /** Packs the quads of a tile that do not fill a word. */
  private void packRemainder(int width, byte[] codes, int firstColumn, byte[] packed, int at) {
    int words = words(width);
    int perByte = 8 / width;
    for (int i = 0; i < 4 * remainderQuads(width); i++) {
      int from = (4 * perByte * words + i) * columns + firstColumn;
      int to = at + words * ROW_BYTES + i / perByte * TILE;
      packRow(width, codes, from, packed, to, i % perByte * width);
    }
  }

  /** Adds a row's part to the bytes of a tile's columns. */
  private void packRow(int width, byte[] codes, int from, byte[] packed, int to, int place) {
    int mask = (1 << width) - 1;
    int shift = shift(width);
    for (int column = 0; column < TILE; column++) {
      int part = codes[from + column] >> shift & mask;
      packed[to + column] |= (byte) (part << place);
    }
  }

  /** Inverts {@link #pack}. */
  public void unpack(CodeScratch scratch, MemorySegment source, long offset, byte[] codes) {
    byte[] packed = scratch.packed(bytes());
    MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, packed, 0, bytes());
    for (int tile = 0; tile < tiles(); tile++) {
      unpackTile(packed, tile * tileBytes(), codes, tile * TILE, columns);
    }
  }

  /**
   * Unpacks the codes of a tile.
   *
   * @param codes (rows, columns of the tile), rows {@code stride} apart, from {@code to} on
   */
  public void unpackTile(byte[] packed, int from, byte[] codes, int to, int stride) {
    int at = from;
    for (int width = WIDEST; width > 0; width /= 2) {
      if (hasPart(width)) {
        unpackWords(width, packed, at, codes, to, stride);
        unpackRemainder(width, packed, at + words(width) * ROW_BYTES, codes, to, stride);
        at += TILE * partBytes(width);
      }
    }
  }

  /** Sets codes to their lowest part, or adds a higher one. */
  private void unpackWords(int width, byte[] packed, int at, byte[] codes, int to, int stride) {
    int words = words(width);
    int perByte = 8 / width;
    int mask = 0x01010101 * ((1 << width) - 1);
    int shift = shift(width);
    for (int word = 0; word < words; word++) {
      for (int column = 0; column < TILE; column++) {
        int all = (int) INT.get(packed, at + word * ROW_BYTES + 4 * column);
        for (int k = 0; k < perByte; k++) {
          int four = (all >>> k * width & mask) << shift;
          int place = to + 4 * (perByte * word + k) * stride + column;
          if (shift == 0) {
            codes[place] = (byte) four;
            codes[place + stride] = (byte) (four >>> 8);
            codes[place + 2 * stride] = (byte) (four >>> 16);
            codes[place + 3 * stride] = (byte) (four >>> 24);
          } else {
            codes[place] |= (byte) four;
            codes[place + stride] |= (byte) (four >>> 8);
            codes[place + 2 * stride] |= (byte) (four >>> 16);
            codes[place + 3 * stride] |= (byte) (four >>> 24);
          }
        }
      }
    }
  }

  private void unpackRemainder(int width, byte[] packed, int at, byte[] codes, int to, int stride) {
    int perByte = 8 / width;
    int mask = (1 << width) - 1;
    int shift = shift(width);
    int first = 4 * perByte * words(width);
    for (int i = 0; i < 4 * remainderQuads(width); i++) {
      int row = at + i / perByte * TILE;
      int place = to + (first + i) * stride;
      for (int column = 0; column < TILE; column++) {
        int part = (packed[row + column] >>> i % perByte * width & mask) << shift;
        codes[place + column] = (byte) (shift == 0 ? part : codes[place + column] | part);
      }
    }
  }
}
