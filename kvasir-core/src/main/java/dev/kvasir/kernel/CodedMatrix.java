package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Integer codes of 4 or 8 bits with a scale, and where needed a minimum, for each group of 16 or 32
 * columns: {@code value = scale * code + minimum}. Every block format of GGUF unpacks to this
 * without loss, so one product serves all of them.
 *
 * <p>Sixteen rows make a tile, and a 16-bit lane belongs to one row, so that a vector holds the
 * same columns of many rows and no sum across lanes is ever needed:
 *
 * <pre>
 * 8 bits: tile | pair of columns | row 0..15 | low byte: even column + 128, high byte: odd column
 * 4 bits: tile | quad of columns | row 0..15 | nibbles: column 0 lowest, codes 0..15
 * scales, minimums (f32): tile | group | rows 0 2 4 .. 14, then 1 3 5 .. 15
 *
 * bytes = 16 * ceil(rows / 16) * (columns * bits / 8 + columns / group * 4 * (1 or 2))
 * </pre>
 *
 * <p>The lane is multiplied whole. With x = odd * 256 + (even + 128), 16-bit arithmetic that wraps
 * gives {@code x * a0 + (x >> 8) * (a1 - 256 * a0) = (even + 128) * a0 + odd * a1}, so a column
 * costs one multiplication and no unpacking; nibbles telescope the same way. The order of scales is
 * the one in which 32-bit sums leave the lanes: low halves are even rows, high halves odd ones.
 */
public final class CodedMatrix implements Matrix {
  public static final int TILE_ROWS = 16;

  private static final ValueLayout.OfShort LANE =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
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
    if (rows < 1 || columns < 1 || columns % CodedRow.GROUP != 0) {
      throw new IllegalArgumentException(
          "a matrix of %d x %d; columns must be a multiple of %d"
              .formatted(rows, columns, CodedRow.GROUP));
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

  /** Lays down one row; rows may be set in any order, and different rows from different threads. */
  public void setRow(int row, byte[] rowCodes, float[] rowScales, float[] rowMinimums) {
    Objects.checkIndex(row, rows);
    int columnsPerLane = 16 / codeBits;
    long lane = laneOffset(row, 0);
    for (int column = 0; column < columns; column += columnsPerLane) {
      codes.set(LANE, lane, codeBits == 8 ? pair(rowCodes, column) : quad(rowCodes, column));
      lane += 2 * TILE_ROWS;
    }
    for (int group = 0; group < groups(); group++) {
      long at = scaleOffset(row, group);
      scales.set(FLOAT, at, rowScales[group]);
      if (minimums != null) {
        minimums.set(FLOAT, at, rowMinimums[group]);
      }
    }
  }

  /**
   * Lays down up to sixteen rows at once, which is many times faster: lanes are put together in an
   * array and copied as a whole.
   *
   * @param count rows of the tile, fewer than sixteen only in the last one
   * @param tileCodes (count, columns)
   * @param tileScales (count, groups)
   * @param tileMinimums (count, groups), not read where there are none
   */
  public void setTile(
      int tile, int count, byte[] tileCodes, float[] tileScales, float[] tileMinimums) {
    int columnsPerLane = 16 / codeBits;
    short[] lanes = new short[columns / columnsPerLane * TILE_ROWS];
    for (int row = 0; row < count; row++) {
      int lane = row;
      int end = (row + 1) * columns;
      for (int at = row * columns; at < end; at += columnsPerLane) {
        lanes[lane] = codeBits == 8 ? pair(tileCodes, at) : quad(tileCodes, at);
        lane += TILE_ROWS;
      }
    }
    MemorySegment.copy(lanes, 0, codes, LANE, codesOffset(tile), lanes.length);
    setTileFloats(scales, tile, count, tileScales);
    if (minimums != null) {
      setTileFloats(minimums, tile, count, tileMinimums);
    }
  }

  private void setTileFloats(MemorySegment target, int tile, int count, float[] values) {
    float[] placed = new float[groups() * TILE_ROWS];
    for (int row = 0; row < count; row++) {
      for (int group = 0; group < groups(); group++) {
        placed[group * TILE_ROWS + place(row)] = values[row * groups() + group];
      }
    }
    MemorySegment.copy(placed, 0, target, FLOAT, scalesOffset(tile), placed.length);
  }

  /** Even rows come first, then odd ones. */
  private static int place(int rowInTile) {
    return (rowInTile & 1) * (TILE_ROWS / 2) + (rowInTile >> 1);
  }

  private static short pair(byte[] rowCodes, int column) {
    return (short) (rowCodes[column + 1] << 8 | (rowCodes[column] + 128 & 0xFF));
  }

  private static short quad(byte[] rowCodes, int column) {
    return (short)
        (rowCodes[column]
            | rowCodes[column + 1] << 4
            | rowCodes[column + 2] << 8
            | rowCodes[column + 3] << 12);
  }

  /** The integer code at a place, as it was set. */
  public int code(int row, int column) {
    int lane = codes.get(LANE, laneOffset(row, column));
    if (codeBits == 8) {
      return column % 2 == 0 ? (lane & 0xFF) - 128 : lane >> 8;
    }
    return lane >>> 4 * (column % 4) & 15;
  }

  public float scale(int row, int group) {
    return scales.get(FLOAT, scaleOffset(row, group));
  }

  public float minimum(int row, int group) {
    return minimums == null ? 0 : minimums.get(FLOAT, scaleOffset(row, group));
  }

  /** Where the lane that holds a column of a row lies in {@link #codes()}. */
  public long laneOffset(int row, int column) {
    long lanes = (long) (column / (16 / codeBits)) * TILE_ROWS + row % TILE_ROWS;
    return codesOffset(row / TILE_ROWS) + 2 * lanes;
  }

  private long scaleOffset(int row, int group) {
    long at = (long) group * TILE_ROWS + place(row % TILE_ROWS);
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
