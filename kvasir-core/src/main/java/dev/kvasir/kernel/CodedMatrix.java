package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Integer codes of 4 or 8 bits with a scale, and where needed a minimum, for each group of 16 or 32
 * columns: {@code value = scale * code + minimum}. Every block format of GGUF unpacks to this
 * without loss, so one product serves all of them.
 *
 * <p>Sixteen rows make a tile. A 32-bit lane of it belongs to one row, as instructions want that
 * multiply four bytes at once (SDOT, VPDPBUSD).
 *
 * <pre>
 * codes, 8 bits: tile | four columns | row 0..15 | 4 signed bytes
 * codes, 4 bits: tile | eight columns | row 0..15 | 4 bytes: columns 0..3 in the low nibbles, 4..7 in the high
 * scales, minimums (f32): tile | group | row 0..15
 *
 * bytes = 16 * ceil(rows / 16) * (columns * bits / 8 + columns / group * 4 * (1 or 2))
 * </pre>
 */
public final class CodedMatrix implements Matrix {
  public static final int TILE_ROWS = 16;

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int rows;
  private final int columns;
  private final int codeBits;
  private final int groupLength;
  private final MemorySegment codes;
  private final MemorySegment scales;
  private final MemorySegment minimums; // null where all are zero

  public CodedMatrix(
      SegmentAllocator allocator,
      int rows,
      int columns,
      int codeBits,
      int groupLength,
      boolean hasMinimums) {
    if (codeBits != 4 && codeBits != 8) {
      throw new IllegalArgumentException("codeBits is %d; expected 4 or 8".formatted(codeBits));
    }
    if (groupLength != 16 && groupLength != 32) {
      throw new IllegalArgumentException(
          "groupLength is %d; expected 16 or 32".formatted(groupLength));
    }
    // Activations are coded in groups of 32, whatever the weights' groups are.
    if (rows < 1 || columns < 1 || columns % CodedRows.GROUP != 0) {
      throw new IllegalArgumentException(
          "a matrix of %d x %d; columns must be a multiple of %d"
              .formatted(rows, columns, CodedRows.GROUP));
    }
    this.rows = rows;
    this.columns = columns;
    this.codeBits = codeBits;
    this.groupLength = groupLength;
    long paddedRows = (long) tiles() * TILE_ROWS;
    this.codes = allocator.allocate(paddedRows * columns * codeBits / 8);
    this.scales = allocator.allocate(paddedRows * groups() * Float.BYTES);
    this.minimums = hasMinimums ? allocator.allocate(paddedRows * groups() * Float.BYTES) : null;
  }

  /** Bytes that a matrix of these sizes takes. */
  public static long bytesFor(
      long rows, long columns, int codeBits, int groupLength, boolean hasMinimums) {
    long paddedRows = Math.ceilDiv(rows, TILE_ROWS) * TILE_ROWS;
    long floatsPerRow = columns / groupLength * (hasMinimums ? 2 : 1);
    return paddedRows * (columns * codeBits / 8 + floatsPerRow * Float.BYTES);
  }

  /**
   * Lays down up to sixteen rows; different tiles may be set by different threads.
   *
   * @param count rows of the tile, fewer than sixteen only in the last one
   * @param tileCodes (count, columns)
   * @param tileScales (count, groups)
   * @param tileMinimums (count, groups), not read where there are none
   */
  public void setTile(
      int tile, int count, byte[] tileCodes, float[] tileScales, float[] tileMinimums) {
    byte[] laid = new byte[(int) codesOffset(1)];
    for (int row = 0; row < count; row++) {
      layRow(tileCodes, row * columns, row, laid);
    }
    MemorySegment.copy(laid, 0, codes, ValueLayout.JAVA_BYTE, codesOffset(tile), laid.length);
    setTileFloats(scales, tile, count, tileScales);
    if (minimums != null) {
      setTileFloats(minimums, tile, count, tileMinimums);
    }
  }

  /** Places a row's codes among those of its tile, whose nibbles are zeros before. */
  private void layRow(byte[] source, int at, int row, byte[] tile) {
    if (codeBits == 4) {
      for (int column = 0; column < columns; column++) {
        tile[byteOf(row, column)] |= (byte) (source[at + column] << nibbleShift(column));
      }
      return;
    }
    // A fresh process does this to all weights before anything is compiled: few instructions a
    // code.
    for (int from = at, to = 4 * row; from < at + columns; from += 4, to += 4 * TILE_ROWS) {
      tile[to] = source[from];
      tile[to + 1] = source[from + 1];
      tile[to + 2] = source[from + 2];
      tile[to + 3] = source[from + 3];
    }
  }

  /** Which byte of a tile holds a code. */
  private int byteOf(int row, int column) {
    return 4 * (column / (codeBits == 8 ? 4 : 8) * TILE_ROWS + row) + column % 4;
  }

  private static int nibbleShift(int column) {
    return column & 4;
  }

  private void setTileFloats(MemorySegment target, int tile, int count, float[] values) {
    float[] placed = new float[groups() * TILE_ROWS];
    int groups = groups();
    for (int row = 0; row < count; row++) {
      for (int group = 0; group < groups; group++) {
        placed[group * TILE_ROWS + row] = values[row * groups + group];
      }
    }
    MemorySegment.copy(placed, 0, target, FLOAT, scalesOffset(tile), placed.length);
  }

  /** The integer code at a place, as it was set. */
  public int code(int row, int column) {
    int inTile = byteOf(row % TILE_ROWS, column);
    byte bits = codes.get(ValueLayout.JAVA_BYTE, codesOffset(row / TILE_ROWS) + inTile);
    return codeBits == 8 ? bits : bits >> nibbleShift(column) & 15;
  }

  /** A row's values as floats. */
  void expandRow(int row, float[] out, int outAt) {
    for (int group = 0; group < groups(); group++) {
      float scale = scale(row, group);
      float minimum = minimum(row, group);
      int start = group * groupLength;
      for (int column = start; column < start + groupLength; column++) {
        out[outAt + column] = code(row, column) * scale + minimum;
      }
    }
  }

  public float scale(int row, int group) {
    return scales.get(FLOAT, scaleOffset(row, group));
  }

  public float minimum(int row, int group) {
    return minimums == null ? 0 : minimums.get(FLOAT, scaleOffset(row, group));
  }

  private long scaleOffset(int row, int group) {
    long at = (long) group * TILE_ROWS + row % TILE_ROWS;
    return scalesOffset(row / TILE_ROWS) + at * Float.BYTES;
  }

  /** Where a tile's codes begin in {@link #codes()}. */
  public long codesOffset(int tile) {
    return (long) tile * TILE_ROWS * columns * codeBits / 8;
  }

  /** Where a tile's scales begin in {@link #scales()}, and its minimums in theirs. */
  public long scalesOffset(int tile) {
    return (long) tile * TILE_ROWS * groups() * Float.BYTES;
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  public int codeBits() {
    return codeBits;
  }

  public int groupLength() {
    return groupLength;
  }

  public boolean hasMinimums() {
    return minimums != null;
  }

  /** Groups of a row. */
  public int groups() {
    return columns / groupLength;
  }

  public int tiles() {
    return Math.ceilDiv(rows, TILE_ROWS);
  }

  public MemorySegment codes() {
    return codes;
  }

  public MemorySegment scales() {
    return scales;
  }

  public MemorySegment minimums() {
    return minimums;
  }

  @Override
  public long bytes() {
    return codes.byteSize() + scales.byteSize() + (minimums == null ? 0 : minimums.byteSize());
  }
}
