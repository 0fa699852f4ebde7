package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;

/**
 * Uniform codes with one scale for each lane: keys by token, where a grid has the channels that
 * share a scale. The scale multiplies after the sum, so a query that is rounded once serves every
 * page.
 *
 * <pre>
 * codes   WordLayout(lanes up to a multiple of 16, entries up to a multiple of 4, bits)
 * scales  (lanes)  f16
 * zeros   (lanes)  f16
 *
 * bytes = codes + 4 * lanes
 * </pre>
 */
public final class ColumnScaledCodes implements CodeMatrix {
  private static final int STEP_KIND = 10;
  private static final int THIRD_KIND = 12;

  /** Its numbers in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(
          STEP_KIND, header -> of(header, ScaleSpan.STEP),
          THIRD_KIND, header -> of(header, ScaleSpan.THIRD));

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int entries;
  private final int lanes;
  private final ScaleSpan span;
  private final WordLayout layout;

  public ColumnScaledCodes(int rows, int columns, int bits) {
    this(rows, columns, bits, ScaleSpan.STEP);
  }

  public ColumnScaledCodes(int rows, int columns, int bits, ScaleSpan span) {
    this.entries = rows;
    this.lanes = columns;
    this.span = span;
    this.layout = WordLayout.padded(rows, columns, bits);
  }

  private static ColumnScaledCodes of(CodeMatrixHeader header, ScaleSpan span) {
    return new ColumnScaledCodes(header.rows(), header.columns(), header.bits(), span);
  }

  @Override
  public CodeMatrixHeader header() {
    int kind = span == ScaleSpan.STEP ? STEP_KIND : THIRD_KIND;
    return new CodeMatrixHeader(kind, bits(), entries, lanes, 0);
  }

  @Override
  public int rows() {
    return entries;
  }

  @Override
  public int columns() {
    return lanes;
  }

  @Override
  public int bits() {
    return layout.bits();
  }

  /** How far the stored scales reach. */
  public ScaleSpan span() {
    return span;
  }

  /** What a stored scale is multiplied by to be the distance of two codes. */
  public float unit() {
    return span.unit(bits());
  }

  /** Where the bits of the codes lie, which come first. */
  public WordLayout layout() {
    return layout;
  }

  public long scalesOffset() {
    return layout.bytes();
  }

  public long zerosOffset() {
    return scalesOffset() + 2L * lanes;
  }

  @Override
  public int codeBytes() {
    return layout.bytes();
  }

  @Override
  public int bytes() {
    return layout.bytes() + 4 * lanes;
  }

  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    Arrays.fill(codes, 0, layout.rows() * layout.columns(), (byte) 0);
    for (int column = 0; column < lanes; column++) {
      UniformQuantizer quantizer = UniformQuantizer.of(x, column, lanes, entries, bits(), span);
      quantizer.quantize(x, column, lanes, entries, codes, column, layout.columns());
      target.set(HALF, offset + scalesOffset() + 2L * column, quantizer.scaleBits());
      target.set(HALF, offset + zerosOffset() + 2L * column, quantizer.zeroBits());
    }
    layout.pack(scratch, codes, target, offset);
  }

  @Override
  public void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    layout.unpack(scratch, source, offset, codes);
    for (int column = 0; column < lanes; column++) {
      float step =
          unit() * Float.float16ToFloat(source.get(HALF, offset + scalesOffset() + 2L * column));
      float zero = Float.float16ToFloat(source.get(HALF, offset + zerosOffset() + 2L * column));
      for (int row = 0; row < entries; row++) {
        int code = codes[row * layout.columns() + column] & 0xFF;
        x[row * lanes + column] = Math.fma(step, code, zero);
      }
    }
  }
}
