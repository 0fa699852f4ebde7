package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A matrix of integer codes of 4 to 8 bits with a scale, and optionally a minimum, for each group
 * of 16 or 32 columns: {@code value = scale * code + minimum}. Every GGUF block format converts to
 * this layout without loss, so one GEMM kernel serves all of them.
 *
 * <p>Sixteen rows form a tile. Each 32-bit lane of a tile belongs to one row, which suits
 * instructions that multiply four bytes at once (SDOT, VPDPBUSD).
 *
 * <pre>
 * codes, 8 bits: tile | four columns | row 0..15 | 4 signed bytes
 * codes, 4 bits: tile | eight columns | row 0..15 | 4 bytes: columns 0..3 in the low nibbles, 4..7 in the high
 * codes, 6 bits: tile | sixteen columns | nibbles of 8 columns | nibbles of 8 columns | upper bits
 * codes, 5 bits: tile | 32 columns | four times the nibbles of 8 columns | upper bits
 *   upper bits:  row 0..15 | byte 0..3: those of columns b, b + 4, b + 8, ... from the lowest bit on
 * scales, minimums: tile | numbers of its groups, see {@link ScaleFormat.ScaleEncoding}
 *
 * bytes = ceil(rows / 16) * (16 * columns * bits / 8 + bytes of a tile's numbers * (1 or 2))
 * </pre>
 */
public final class QuantizedWeights implements Matrix {
  public static final int TILE_ROWS = 16;

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int rows;
  private final int columns;
  private final WeightCodes coding;
  private final int groupLength;
  private final ScaleFormat format;
  private final MemorySegment codes;
  private final MemorySegment scales;
  private final MemorySegment minimums; // null where none are stored

  /** Allocates a matrix with float scales and minimums. */
  public QuantizedWeights(
      SegmentAllocator allocator,
      int rows,
      int columns,
      WeightCodes coding,
      int groupLength,
      boolean hasMinimums) {
    this(allocator, rows, columns, coding, groupLength, ScaleFormat.floats(hasMinimums));
  }

  public QuantizedWeights(
      SegmentAllocator allocator,
      int rows,
      int columns,
      WeightCodes coding,
      int groupLength,
      ScaleFormat format) {
    if (groupLength != 16 && groupLength != 32) {
      throw new IllegalArgumentException(
          "groupLength is %d; expected 16 or 32".formatted(groupLength));
    }
    // Activations are quantized in groups of 32, whatever the weights' groups are.
    if (rows < 1 || columns < 1 || columns % QuantizedActivations.GROUP != 0) {
      throw new IllegalArgumentException(
          "a matrix of %d x %d; columns must be a multiple of %d"
              .formatted(rows, columns, QuantizedActivations.GROUP));
    }
    requireFit(coding, groupLength);
    format.requireFit(columns, groupLength);
    this.rows = rows;
    this.columns = columns;
    this.coding = coding;
    this.groupLength = groupLength;
    this.format = format;
    this.codes = allocator.allocate(codesOffset(tiles()));
    this.scales = allocator.allocate(scalesOffset(tiles()), Float.BYTES);
    this.minimums =
        format.storesMinimums() ? allocator.allocate(scalesOffset(tiles()), Float.BYTES) : null;
  }

  /** Throws unless kernels have a product for such groups. No GGUF type has others. */
  private static void requireFit(WeightCodes coding, int groupLength) {
    int expected = coding.bits() == 5 ? 32 : coding.bits() == 6 ? 16 : groupLength;
    if (groupLength != expected) {
      throw new IllegalArgumentException(
          "groupLength is %d; expected %d with %s".formatted(groupLength, expected, coding));
    }
  }

  /** Returns the bytes of a matrix of these dimensions. */
  public static long bytesFor(
      long rows, long columns, WeightCodes coding, int groupLength, ScaleFormat format) {
    return Math.ceilDiv(rows, TILE_ROWS)
        * (TILE_ROWS * columns * coding.bits() / 8 + format.tileBytes(columns, groupLength));
  }

  /**
   * Writes up to sixteen rows. Different threads may write different tiles.
   *
   * @param count rows of the tile, below sixteen only for the last tile
   * @param tileCodes (count, columns)
   * @param tileScales (count, groups)
   * @param tileMinimums (count, groups), read only if minimums are stored
   * @throws IllegalArgumentException if scales are stored as products, or as halves and a scale is
   *     not exactly a half
   */
  public void setTile(
      int tile, int count, byte[] tileCodes, float[] tileScales, float[] tileMinimums) {
    setTileCodes(tile, count, tileCodes);
    setTileNumbers(scales, tile, count, tileScales);
    if (minimums != null) {
      setTileNumbers(minimums, tile, count, tileMinimums);
    }
  }

  /**
   * Writes up to sixteen rows with scales stored as products.
   *
   * @param tileScales of the tile's rows
   * @param tileMinimums of the tile's rows, read only if minimums are stored
   */
  public void setTile(
      int tile,
      int count,
      byte[] tileCodes,
      SuperBlockScales tileScales,
      SuperBlockScales tileMinimums) {
    setTileCodes(tile, count, tileCodes);
    setTileProducts(scales, tile, count, tileScales);
    if (minimums != null) {
      setTileProducts(minimums, tile, count, tileMinimums);
    }
  }

  /**
   * Scales that are the product of a half per 256 columns and a small integer per group.
   *
   * @param halves // (rows, columns / 256)
   * @param factors // (rows, groups)
   */
  public record SuperBlockScales(short[] halves, byte[] factors) {}

  private void setTileCodes(int tile, int count, byte[] tileCodes) {
    byte[] placed = new byte[(int) codesOffset(1)];
    for (int row = 0; row < count; row++) {
      placeRow(tileCodes, row * columns, row, placed);
    }
    MemorySegment.copy(placed, 0, codes, ValueLayout.JAVA_BYTE, codesOffset(tile), placed.length);
  }

  /** Writes a row's codes into its tile, whose bits must be zero before. */
  private void placeRow(byte[] source, int at, int row, byte[] tile) {
    // A fresh process does this for all weights before the JIT has compiled anything, so these
    // loops execute few instructions per code.
    if (coding.bits() < 8) {
      int runColumns = runColumns();
      for (int column = 0; column < columns; column += runColumns) {
        placeRun(source, at + column, tile, runStart(column) + 4 * row, runColumns);
      }
      return;
    }
    for (int from = at, to = 4 * row; from < at + columns; from += 4, to += 4 * TILE_ROWS) {
      tile[to] = source[from];
      tile[to + 1] = source[from + 1];
      tile[to + 2] = source[from + 2];
      tile[to + 3] = source[from + 3];
    }
  }

  /**
   * Writes the codes of a run.
   *
   * @param nibbles index of the first byte of the row
   */
  private void placeRun(byte[] source, int at, byte[] tile, int nibbles, int runColumns) {
    int upperBits = coding.upperBits();
    int upper = nibbles + runColumns / 8 * 4 * TILE_ROWS;
    int shift = 0;
    int to = nibbles;
    for (int from = at; from < at + runColumns; from += 8, to += 4 * TILE_ROWS) {
      for (int i = 0; i < 4; i++) {
        int low = coding.stored(source[from + i]);
        int high = coding.stored(source[from + 4 + i]);
        tile[to + i] = (byte) (low & 15 | high << 4);
        if (upperBits > 0) {
          tile[upper + i] |= (byte) (low >> 4 << shift | high >> 4 << shift + upperBits);
        }
      }
      shift += 2 * upperBits;
    }
  }

  /** Returns the columns of a run: those whose upper bits share bytes. */
  private int runColumns() {
    return coding.upperBits() == 0 ? 8 : 32 / coding.upperBits();
  }

  private int runStart(int column) {
    return column / runColumns() * (TILE_ROWS * runColumns() * coding.bits() / 8);
  }

  /** Returns the index of the byte of a tile that holds a code's lower four bits. */
  private int nibbleAt(int row, int column) {
    int eight = column % runColumns() / 8;
    return runStart(column) + 4 * (eight * TILE_ROWS + row) + column % 4;
  }

  /** Returns the index of the byte of a tile that holds a code's upper bits. */
  private int upperAt(int row, int column) {
    return runStart(column) + 4 * (runColumns() / 8 * TILE_ROWS + row) + column % 4;
  }

  private static int nibbleShift(int column) {
    return column & 4;
  }

  private int upperShift(int column) {
    return column % runColumns() / 4 * coding.upperBits();
  }

  private void setTileNumbers(MemorySegment target, int tile, int count, float[] values) {
    switch (format.encoding()) {
      case FLOATS -> setTileFloats(target, tile, count, values);
      case HALVES -> setTileHalves(target, tile, count, values);
      case PRODUCTS -> throw new IllegalArgumentException("scales are stored as products");
    }
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

  private void setTileHalves(MemorySegment target, int tile, int count, float[] values) {
    short[] placed = new short[groups() * TILE_ROWS];
    int groups = groups();
    for (int row = 0; row < count; row++) {
      for (int group = 0; group < groups; group++) {
        placed[group * TILE_ROWS + row] = half(values[row * groups + group]);
      }
    }
    MemorySegment.copy(placed, 0, target, SHORT, scalesOffset(tile), placed.length);
  }

  private static short half(float value) {
    short half = Float.floatToFloat16(value);
    if (Float.float16ToFloat(half) != value) {
      throw new IllegalArgumentException("a scale of %s; expected a half's".formatted(value));
    }
    return half;
  }

  private void setTileProducts(
      MemorySegment target, int tile, int count, SuperBlockScales products) {
    if (format.encoding() != ScaleFormat.ScaleEncoding.PRODUCTS) {
      throw new IllegalArgumentException("scales are not stored as products");
    }
    // Also runs before the JIT has compiled anything.
    byte[] placed = new byte[(int) scalesOffset(1)];
    int perBlock = ScaleFormat.SUPER_BLOCK / groupLength;
    int blocks = columns / ScaleFormat.SUPER_BLOCK;
    for (int row = 0; row < count; row++) {
      for (int block = 0; block < blocks; block++) {
        int at = (int) superBlockOffset(0, block);
        short half = products.halves[row * blocks + block];
        placed[at + Short.BYTES * row] = (byte) half;
        placed[at + Short.BYTES * row + 1] = (byte) (half >> Byte.SIZE);
        int from = (row * blocks + block) * perBlock;
        int to = (int) factorOffset(0, block * perBlock) + row;
        for (int group = 0; group < perBlock; group++) {
          placed[to + group * TILE_ROWS] = products.factors[from + group];
        }
      }
    }
    MemorySegment.copy(placed, 0, target, ValueLayout.JAVA_BYTE, scalesOffset(tile), placed.length);
  }

  private int superBlock(int group) {
    return group / (ScaleFormat.SUPER_BLOCK / groupLength);
  }

  /**
   * Returns the offset of a super-block's halves, one per row; the bytes of its groups follow them.
   */
  private long superBlockOffset(int tile, int block) {
    return scalesOffset(tile)
        + block * format.encoding().tileBytes(ScaleFormat.SUPER_BLOCK, groupLength);
  }

  private long factorOffset(int tile, int group) {
    int block = superBlock(group);
    int inBlock = group - block * (ScaleFormat.SUPER_BLOCK / groupLength);
    return superBlockOffset(tile, block) + (Short.BYTES + inBlock) * TILE_ROWS;
  }

  /** Returns the integer code of an element. */
  public int code(int row, int column) {
    long tile = codesOffset(row / TILE_ROWS);
    int inTile = row % TILE_ROWS;
    if (coding.bits() == 8) {
      return codes.get(
          ValueLayout.JAVA_BYTE, tile + 4L * (column / 4 * TILE_ROWS + inTile) + column % 4);
    }
    byte nibbles = codes.get(ValueLayout.JAVA_BYTE, tile + nibbleAt(inTile, column));
    int stored = nibbles >> nibbleShift(column) & 15;
    if (coding.upperBits() > 0) {
      byte upper = codes.get(ValueLayout.JAVA_BYTE, tile + upperAt(inTile, column));
      int mask = (1 << coding.upperBits()) - 1;
      stored |= (upper >> upperShift(column) & mask) << 4;
    }
    return coding.code(stored);
  }

  /** Writes a row's values as floats. */
  void dequantizeRow(int row, float[] out, int outAt) {
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
    return number(scales, row / TILE_ROWS, group, row % TILE_ROWS);
  }

  public float minimum(int row, int group) {
    if (minimums != null) {
      return number(minimums, row / TILE_ROWS, group, row % TILE_ROWS);
    }
    float factor = format.minimumFactor();
    return factor == 0 ? 0 : factor * scale(row, group);
  }

  private float number(MemorySegment source, int tile, int group, int row) {
    long index = (long) group * TILE_ROWS + row;
    long start = scalesOffset(tile);
    return switch (format.encoding()) {
      case FLOATS -> source.get(FLOAT, start + index * Float.BYTES);
      case HALVES -> Float.float16ToFloat(source.get(SHORT, start + index * Short.BYTES));
      case PRODUCTS -> product(source, tile, group, row);
    };
  }

  private float product(MemorySegment source, int tile, int group, int row) {
    long halves = superBlockOffset(tile, superBlock(group));
    short half = source.get(SHORT, halves + (long) row * Short.BYTES);
    byte factor = source.get(ValueLayout.JAVA_BYTE, factorOffset(tile, group) + row);
    return Float.float16ToFloat(half) * factor;
  }

  /** Copies the scales of a group for the sixteen rows of a tile. */
  void copyScales(int tile, int group, float[] to, int at) {
    copyNumbers(scales, tile, group, to, at);
  }

  /**
   * Copies the minimums of a group for the sixteen rows of a tile; the matrix must have minimums.
   */
  void copyMinimums(int tile, int group, float[] to, int at) {
    if (minimums != null) {
      copyNumbers(minimums, tile, group, to, at);
      return;
    }
    copyNumbers(scales, tile, group, to, at);
    float factor = format.minimumFactor();
    for (int i = at; i < at + TILE_ROWS; i++) {
      to[i] *= factor;
    }
  }

  private void copyNumbers(MemorySegment source, int tile, int group, float[] to, int at) {
    long index = (long) group * TILE_ROWS;
    long start = scalesOffset(tile);
    switch (format.encoding()) {
      case FLOATS ->
          MemorySegment.copy(source, FLOAT, start + index * Float.BYTES, to, at, TILE_ROWS);
      case HALVES -> copyHalves(source, start + index * Short.BYTES, to, at);
      case PRODUCTS -> {
        copyHalves(source, superBlockOffset(tile, superBlock(group)), to, at);
        long factors = factorOffset(tile, group);
        for (int row = 0; row < TILE_ROWS; row++) {
          to[at + row] *= source.get(ValueLayout.JAVA_BYTE, factors + row);
        }
      }
    }
  }

  private static void copyHalves(MemorySegment source, long from, float[] to, int at) {
    for (int row = 0; row < TILE_ROWS; row++) {
      to[at + row] = Float.float16ToFloat(source.get(SHORT, from + (long) row * Short.BYTES));
    }
  }

  /** Returns the offset of a tile's codes in {@link #codes()}. */
  public long codesOffset(int tile) {
    return (long) tile * TILE_ROWS * columns * coding.bits() / 8;
  }

  /**
   * Returns the offset of a tile's scales in {@link #scales()}, and of its minimums in {@link
   * #minimums()}.
   */
  public long scalesOffset(int tile) {
    return tile * format.encoding().tileBytes(columns, groupLength);
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  public WeightCodes coding() {
    return coding;
  }

  public int groupLength() {
    return groupLength;
  }

  public ScaleFormat scaleFormat() {
    return format;
  }

  /** Returns whether groups have minimums, stored or computed. */
  public boolean hasMinimums() {
    return format.hasMinimums();
  }

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

  /** Returns the stored minimums, or null if none are stored. */
  public MemorySegment minimums() {
    return minimums;
  }

  /**
   * Throws unless {@code out} is the rows from {@code firstRow} on of an output of all activations.
   */
  public void requireOutputs(int firstRow, RowBlock out) {
    out.requireShape(out.rows(), rows);
    out.requireContiguous();
    if (out.at() != firstRow * rows) {
      throw new IllegalArgumentException(
          "output from %d on; expected row %d of %d values".formatted(out.at(), firstRow, rows));
    }
  }

  @Override
  public long bytes() {
    return codes.byteSize() + scales.byteSize() + (minimums == null ? 0 : minimums.byteSize());
  }
}
