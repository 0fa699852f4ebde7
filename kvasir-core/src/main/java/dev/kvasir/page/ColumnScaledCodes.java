package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;

/**
 * Uniform codes with one scale per column: per-token keys, where a matrix holds the channels that
 * share a scale. The scale is applied after the sum, so a query that is quantized once serves every
 * page.
 *
 * <pre>
 * codes   WordLayout(columns up to a multiple of 16, rows up to a multiple of 4, bits)
 * scales  (columns)  f16
 * zeros   (columns)  f16
 *
 * bytes = codes + 4 * columns
 * </pre>
 */
public final class ColumnScaledCodes implements CodeMatrix {
  private static final int STEP_KIND = 10;
  private static final int THIRD_KIND = 12;

  /** The kinds of this matrix in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(
          STEP_KIND, header -> of(header, ScaleSpan.STEP),
          THIRD_KIND, header -> of(header, ScaleSpan.THIRD));

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int rows;
  private final int columns;
  private final ScaleSpan span;
  private final WordLayout layout;

  public ColumnScaledCodes(int rows, int columns, int bits) {
    this(rows, columns, bits, ScaleSpan.STEP);
  }

  public ColumnScaledCodes(int rows, int columns, int bits, ScaleSpan span) {
    this.rows = rows;
    this.columns = columns;
    this.span = span;
    this.layout = WordLayout.padded(rows, columns, bits);
  }

  private static ColumnScaledCodes of(CodeMatrixHeader header, ScaleSpan span) {
    return new ColumnScaledCodes(header.rows(), header.columns(), header.bits(), span);
  }

  @Override
  public CodeMatrixHeader header() {
    int kind = span == ScaleSpan.STEP ? STEP_KIND : THIRD_KIND;
    return new CodeMatrixHeader(kind, bits(), rows, columns, 0);
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

  /** Returns what the stored scales span. */
  public ScaleSpan span() {
    return span;
  }

  /** Returns the factor from a stored scale to the distance of two codes. */
  public float unit() {
    return span.unit(bits());
  }

  /** Returns the layout of the codes, which come first. */
  public WordLayout layout() {
    return layout;
  }

  public long scalesOffset() {
    return layout.bytes();
  }

  public long zerosOffset() {
    return scalesOffset() + 2L * columns;
  }

  @Override
  public int codeBytes() {
    return layout.bytes();
  }

  @Override
  public int bytes() {
    return layout.bytes() + 4 * columns;
  }

  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    Arrays.fill(codes, 0, layout.rows() * layout.columns(), (byte) 0);
    for (int column = 0; column < columns; column++) {
      UniformQuantizer quantizer = UniformQuantizer.of(x, column, columns, rows, bits(), span);
      quantizer.quantize(x, column, columns, rows, codes, column, layout.columns());
      target.set(HALF, offset + scalesOffset() + 2L * column, quantizer.scaleBits());
      target.set(HALF, offset + zerosOffset() + 2L * column, quantizer.zeroBits());
    }
    layout.pack(scratch, codes, target, offset);
  }

  @Override
  public void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    layout.unpack(scratch, source, offset, codes);
    for (int column = 0; column < columns; column++) {
      float step =
          unit() * Float.float16ToFloat(source.get(HALF, offset + scalesOffset() + 2L * column));
      float zero = Float.float16ToFloat(source.get(HALF, offset + zerosOffset() + 2L * column));
      for (int row = 0; row < rows; row++) {
        int code = codes[row * layout.columns() + column] & 0xFF;
        x[row * columns + column] = Math.fma(step, code, zero);
      }
    }
  }
}
