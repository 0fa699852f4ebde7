package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.function.Function;

/**
 * Uniform 16-bit codes, which are about as precise as halves. They are too wide for sums of bytes,
 * so they are stored in rows that share scales and are dequantized in one pass: tokens for
 * per-token keys or values, or channels of keys. Scales span a third of a range and are stored like
 * those of narrower codes, so that a page can be requantized without changing them.
 *
 * <pre>
 * stored rows are the columns if scales are by column, else the rows
 * codes   (stored rows, stored columns)                   i16, code - 32768: converts to float faster
 * scales  (ceil(stored columns / group), stored rows)     f16
 * zeros   (ceil(stored columns / group), stored rows)     f16
 *
 * bytes = 2 * rows * columns + 4 * ceil(stored columns / group) * stored rows
 * </pre>
 *
 * @param byColumn whether a scale belongs to a column, as in {@link ColumnScaledCodes}, or to a row
 * @param group stored columns that share a stored row's scale
 */
public record WideCodes(int rows, int columns, boolean byColumn, int group) implements CodeMatrix {
  private static final int ROW_KIND = 6;
  private static final int COLUMN_KIND = 7;

  /** The kinds of this matrix in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(ROW_KIND, header -> of(header, false), COLUMN_KIND, header -> of(header, true));

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The offset that makes codes signed. */
  public static final int MIDDLE = 1 << 15;

  public WideCodes {
    int storedColumns = byColumn ? rows : columns;
    if (rows < 1 || columns < 1 || group < 1 || byColumn && group < storedColumns) {
      throw new IllegalArgumentException(
          "group is %d; expected at least 1, and all %d rows if scales are by column"
              .formatted(group, storedColumns));
    }
    group = Math.min(group, storedColumns);
  }

  private static WideCodes of(CodeMatrixHeader header, boolean byColumn) {
    return new WideCodes(header.rows(), header.columns(), byColumn, header.group());
  }

  @Override
  public CodeMatrixHeader header() {
    return new CodeMatrixHeader(byColumn ? COLUMN_KIND : ROW_KIND, bits(), rows, columns, group);
  }

  @Override
  public int bits() {
    return Short.SIZE;
  }

  public int storedRows() {
    return byColumn ? columns : rows;
  }

  public int storedColumns() {
    return byColumn ? rows : columns;
  }

  public int groups() {
    return Math.ceilDiv(storedColumns(), group);
  }

  @Override
  public int codeBytes() {
    return Short.BYTES * rows * columns;
  }

  @Override
  public int bytes() {
    return codeBytes() + 4 * groups() * storedRows();
  }

  /** Returns the offset of the scales of a group of stored columns. */
  public long scalesOffset(int groupIndex) {
    return codeBytes() + 2L * groupIndex * storedRows();
  }

  /** Returns the offset of the zeros of a group of stored columns. */
  public long zerosOffset(int groupIndex) {
    return scalesOffset(groups() + groupIndex);
  }

  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    float[] numbers = byColumn ? transposed(scratch, x, rows, columns) : x;
    short[] codes = scratch.shortCodes(rows * columns);
    for (int row = 0; row < storedRows(); row++) {
      for (int g = 0; g < groups(); g++) {
        int at = row * storedColumns() + g * group;
        int count = Math.min(group, storedColumns() - g * group);
        UniformQuantizer quantizer =
            UniformQuantizer.of(numbers, at, 1, count, bits(), ScaleSpan.THIRD);
        quantizer.quantize(numbers, at, count, codes, at);
        target.set(SHORT, offset + scalesOffset(g) + 2L * row, quantizer.scaleBits());
        target.set(SHORT, offset + zerosOffset(g) + 2L * row, quantizer.zeroBits());
      }
    }
    for (int i = 0; i < rows * columns; i++) {
      codes[i] -= (short) MIDDLE;
    }
    MemorySegment.copy(codes, 0, target, SHORT, offset, rows * columns);
  }

  /** Returns the signed codes in stored order: (stored rows, stored columns). */
  public short[] codes(CodeScratch scratch, MemorySegment source, long offset) {
    short[] codes = scratch.shortCodes(rows * columns);
    MemorySegment.copy(source, SHORT, offset, codes, 0, rows * columns);
    return codes;
  }

  @Override
  public void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x) {
    if (byColumn) {
      float[] storedRows = scratch.rows(rows * columns);
      dequantizeRows(scratch, source, offset, storedRows);
      transpose(storedRows, columns, rows, x);
    } else {
      dequantizeRows(scratch, source, offset, x);
    }
  }

  /** Writes the numbers in stored order: (stored rows, stored columns). */
  public void dequantizeRows(CodeScratch scratch, MemorySegment source, long offset, float[] out) {
    short[] codes = codes(scratch, source, offset);
    float unit = ScaleSpan.THIRD.unit(bits());
    for (int row = 0; row < storedRows(); row++) {
      for (int g = 0; g < groups(); g++) {
        float step = unit * half(source, offset + scalesOffset(g) + 2L * row);
        float middle = half(source, offset + zerosOffset(g) + 2L * row) + MIDDLE * step;
        int from = row * storedColumns() + g * group;
        int to = from + Math.min(group, storedColumns() - g * group);
        // A constant group must be restored exactly, and others to within half a step.
        for (int i = from; i < to; i++) {
          out[i] = codes[i] * step + middle;
        }
      }
    }
  }

  private static float half(MemorySegment source, long offset) {
    return Float.float16ToFloat(source.get(SHORT, offset));
  }

  private static float[] transposed(
      CodeScratch scratch, float[] x, int storedRows, int storedColumns) {
    float[] out = scratch.rows(storedRows * storedColumns);
    transpose(x, storedRows, storedColumns, out);
    return out;
  }

  /** Transposes (rows, columns) to (columns, rows). */
  private static void transpose(float[] x, int storedRows, int storedColumns, float[] out) {
    for (int row = 0; row < storedRows; row++) {
      for (int column = 0; column < storedColumns; column++) {
        out[column * storedRows + row] = x[row * storedColumns + column];
      }
    }
  }
}
