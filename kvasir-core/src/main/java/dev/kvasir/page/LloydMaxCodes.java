package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;

/**
 * Vectors as a length and a level per coordinate of their direction, with levels that are optimal
 * for random directions ({@code LloydMaxLevels}). Vectors are columns for keys and rows for values.
 * Levels are not uniform, so readers dequantize the codes.
 *
 * <pre>
 * codes    WordLayout(columns up to a multiple of 16, rows up to a multiple of 4, bits)
 * lengths  (vectors)  f16
 *
 * bytes = codes + 2 * vectors
 * </pre>
 */
public final class LloydMaxCodes implements CodeMatrix {
  private static final int ROW_KIND = 20;
  private static final int COLUMN_KIND = 21;

  /** The kinds of this matrix in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(
          ROW_KIND, header -> of(header, false),
          COLUMN_KIND, header -> of(header, true));

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final float LARGEST_HALF = 65504;

  private final int rows;
  private final int columns;
  private final boolean byColumn;
  private final WordLayout layout;

  /**
   * @param byColumn whether a vector is a column, or else a row
   */
  public LloydMaxCodes(int rows, int columns, int bits, boolean byColumn) {
    int dimensions = byColumn ? rows : columns;
    if (dimensions < LloydMaxLevels.MIN_DIMENSIONS || dimensions > LloydMaxLevels.MAX_DIMENSIONS) {
      throw new IllegalArgumentException(
          "a direction has %d coordinates; expected %d to %d"
              .formatted(dimensions, LloydMaxLevels.MIN_DIMENSIONS, LloydMaxLevels.MAX_DIMENSIONS));
    }
    if (bits < 1 || bits > LloydMaxLevels.MAX_BITS) {
      throw new IllegalArgumentException(
          "levels have %d bits; expected 1 to %d".formatted(bits, LloydMaxLevels.MAX_BITS));
    }
    this.rows = rows;
    this.columns = columns;
    this.byColumn = byColumn;
    this.layout = WordLayout.padded(rows, columns, bits);
  }

  private static LloydMaxCodes of(CodeMatrixHeader header, boolean byColumn) {
    return new LloydMaxCodes(header.rows(), header.columns(), header.bits(), byColumn);
  }

  @Override
  public CodeMatrixHeader header() {
    return new CodeMatrixHeader(byColumn ? COLUMN_KIND : ROW_KIND, bits(), rows, columns, 0);
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  @Override
  public int bits() {
    return layout.bits();
  }

  private int vectors() {
    return byColumn ? columns : rows;
  }

  private float[] levels() {
    return LloydMaxLevels.of(bits(), byColumn ? rows : columns);
  }

  @Override
  public int codeBytes() {
    return layout.bytes();
  }

  @Override
  public int bytes() {
    return layout.bytes() + Short.BYTES * vectors();
  }

  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    Arrays.fill(codes, 0, layout.rows() * layout.columns(), (byte) 0);
    float[] levels = levels();
    for (int vector = 0; vector < vectors(); vector++) {
      short lengthBits = Float.floatToFloat16(length(x, vector));
      quantizeVector(x, vector, Float.float16ToFloat(lengthBits), levels, codes);
      target.set(HALF, offset + layout.bytes() + 2L * vector, lengthBits);
    }
    layout.pack(scratch, codes, target, offset);
  }

  private float length(float[] x, int vector) {
    double sum = 0;
    int at = first(vector, columns);
    for (int i = 0; i < dimensions(); i++, at += step(columns)) {
      sum += (double) x[at] * x[at];
    }
    return (float) Math.min(Math.sqrt(sum), LARGEST_HALF);
  }

  private void quantizeVector(float[] x, int vector, float length, float[] levels, byte[] codes) {
    int from = first(vector, columns);
    int to = first(vector, layout.columns());
    for (int i = 0; i < dimensions(); i++) {
      codes[to] = (byte) nearest(levels, length == 0 ? 0 : x[from] / length);
      from += step(columns);
      to += step(layout.columns());
    }
  }

  private static int nearest(float[] levels, float x) {
    int code = 0;
    while (code + 1 < levels.length && x > (levels[code] + levels[code + 1]) / 2) {
      code++;
    }
    return code;
  }

  private int dimensions() {
    return byColumn ? rows : columns;
  }

  /** Returns the index of a vector's first coordinate in rows of {@code stride} columns. */
  private int first(int vector, int stride) {
    return byColumn ? vector : vector * stride;
  }

  private int step(int stride) {
    return byColumn ? stride : 1;
  }

  @Override
  public void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    layout.unpack(scratch, source, offset, codes);
    float[] levels = levels();
    float[] lengths = scratch.rows(vectors());
    for (int vector = 0; vector < vectors(); vector++) {
      short bits = source.get(HALF, offset + layout.bytes() + 2L * vector);
      lengths[vector] = Float.float16ToFloat(bits);
    }
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        float level = levels[codes[row * layout.columns() + column]];
        x[row * columns + column] = level * lengths[byColumn ? column : row];
      }
    }
  }
}
