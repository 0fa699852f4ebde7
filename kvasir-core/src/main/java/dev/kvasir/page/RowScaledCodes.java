package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;

/**
 * Uniform codes with a scale per row and group of columns: per-channel keys, per-token values. The
 * scale belongs to the dimension that is summed over, so it is folded into the weights of a sum.
 *
 * <pre>
 * codes   WordLayout(columns up to a multiple of 16, rows up to a multiple of 4, bits)
 * scales  (ceil(columns / group), rows)  f16
 * zeros   (ceil(columns / group), rows)  f16
 *
 * bytes = codes + 4 * ceil(columns / group) * rows
 * </pre>
 */
public final class RowScaledCodes implements CodeMatrix {
  private static final int STEP_KIND = 9;
  private static final int THIRD_KIND = 11;
  private static final int GROUP_STEP = 32;

  /** The kinds of this matrix in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(
          STEP_KIND, header -> of(header, ScaleSpan.STEP),
          THIRD_KIND, header -> of(header, ScaleSpan.THIRD));

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int rows;
  private final int columns;
  private final int group;
  private final ScaleSpan span;
  private final WordLayout layout;

  /**
   * @param group columns that share a row's scale; a multiple of 32, or all columns
   */
  public RowScaledCodes(int rows, int columns, int bits, int group) {
    this(rows, columns, bits, group, ScaleSpan.STEP);
  }

  public RowScaledCodes(int rows, int columns, int bits, int group, ScaleSpan span) {
    if (group < 1 || group < columns && group % GROUP_STEP != 0) {
      throw new IllegalArgumentException(
          "group is %d; expected a multiple of %d, or all %d columns"
              .formatted(group, GROUP_STEP, columns));
    }
    this.rows = rows;
    this.columns = columns;
    this.group = Math.min(group, columns);
    this.span = span;
    this.layout = WordLayout.padded(rows, columns, bits);
  }

  private static RowScaledCodes of(CodeMatrixHeader header, ScaleSpan span) {
    return new RowScaledCodes(header.rows(), header.columns(), header.bits(), header.group(), span);
  }

  @Override
  public CodeMatrixHeader header() {
    int kind = span == ScaleSpan.STEP ? STEP_KIND : THIRD_KIND;
    return new CodeMatrixHeader(kind, bits(), rows, columns, group);
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

  /** Returns the columns that share a row's scale. */
  public int group() {
    return group;
  }

  public int groups() {
    return Math.ceilDiv(columns, group);
  }

  /** Returns the factor from a stored scale to the distance of two codes. */
  public float unit() {
    return span.unit(bits());
  }

  /** Returns the layout of the codes, which come first. */
  public WordLayout layout() {
    return layout;
  }

  public long scalesOffset(int groupIndex) {
    return layout.bytes() + 2L * groupIndex * rows;
  }

  public long zerosOffset(int groupIndex) {
    return scalesOffset(groups() + groupIndex);
  }

  @Override
  public int codeBytes() {
    return layout.bytes();
  }

  @Override
  public int bytes() {
    return layout.bytes() + 4 * groups() * rows;
  }

  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    Arrays.fill(codes, 0, layout.rows() * layout.columns(), (byte) 0);
    for (int g = 0; g < groups(); g++) {
      int first = g * group;
      int count = Math.min(group, columns - first);
      long scales = offset + scalesOffset(g);
      long zeros = offset + zerosOffset(g);
      for (int row = 0; row < rows; row++) {
        int at = row * columns + first;
        UniformQuantizer quantizer = UniformQuantizer.of(x, at, 1, count, bits(), span);
        quantizer.quantize(x, at, count, codes, row * layout.columns() + first);
        target.set(HALF, scales + 2L * row, quantizer.scaleBits());
        target.set(HALF, zeros + 2L * row, quantizer.zeroBits());
      }
    }
    layout.pack(scratch, codes, target, offset);
  }

  @Override
  public void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    layout.unpack(scratch, source, offset, codes);
    for (int g = 0; g < groups(); g++) {
      int first = g * group;
      int end = Math.min(first + group, columns);
      for (int row = 0; row < rows; row++) {
        float step =
            unit() * Float.float16ToFloat(source.get(HALF, offset + scalesOffset(g) + 2L * row));
        float zero = Float.float16ToFloat(source.get(HALF, offset + zerosOffset(g) + 2L * row));
        for (int column = first; column < end; column++) {
          int code = codes[row * layout.columns() + column] & 0xFF;
          x[row * columns + column] = Math.fma(step, code, zero);
        }
      }
    }
  }
}
