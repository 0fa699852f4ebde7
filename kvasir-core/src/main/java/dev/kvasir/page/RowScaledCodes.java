package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;

/**
 * Uniform codes with a scale for each entry and group of lanes: keys by channel, values by token.
 * The scale belongs to what is summed over, so it goes into the weights of a sum.
 *
 * <pre>
 * codes   WordLayout(lanes up to a multiple of 16, entries up to a multiple of 4, bits)
 * scales  (ceil(lanes / group), entries)  f16
 * zeros   (ceil(lanes / group), entries)  f16
 *
 * bytes = codes + 4 * ceil(lanes / group) * entries
 * </pre>
 */
public final class RowScaledCodes implements CodeMatrix {
  private static final int STEP_KIND = 9;
  private static final int THIRD_KIND = 11;
  private static final int GROUP_STEP = 32;

  /** Its numbers in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(
          STEP_KIND, header -> of(header, ScaleSpan.STEP),
          THIRD_KIND, header -> of(header, ScaleSpan.THIRD));

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int entries;
  private final int lanes;
  private final int group;
  private final ScaleSpan span;
  private final WordLayout layout;

  /**
   * @param group lanes that share an entry's scale; a multiple of 32 unless all of them do
   */
  public RowScaledCodes(int rows, int columns, int bits, int group) {
    this(rows, columns, bits, group, ScaleSpan.STEP);
  }

  public RowScaledCodes(int rows, int columns, int bits, int group, ScaleSpan span) {
    if (group < 1 || group < columns && group % GROUP_STEP != 0) {
      throw new IllegalArgumentException(
          "group is %d; expected a multiple of %d, or all %d lanes"
              .formatted(group, GROUP_STEP, columns));
    }
    this.entries = rows;
    this.lanes = columns;
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
    return new CodeMatrixHeader(kind, bits(), entries, lanes, group);
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

  /** Lanes that share an entry's scale. */
  public int group() {
    return group;
  }

  public int groups() {
    return Math.ceilDiv(lanes, group);
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

  /** Where the scales of a group of lanes begin. */
  public long scalesOffset(int groupIndex) {
    return layout.bytes() + 2L * groupIndex * entries;
  }

  /** Where the zeros of a group of lanes begin. */
  public long zerosOffset(int groupIndex) {
    return scalesOffset(groups() + groupIndex);
  }

  @Override
  public int codeBytes() {
    return layout.bytes();
  }

  @Override
  public int bytes() {
    return layout.bytes() + 4 * groups() * entries;
  }

  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    int[] words = scratch.words(layout.columns());
    Arrays.fill(codes, 0, layout.rows() * layout.columns(), (byte) 0);
    for (int g = 0; g < groups(); g++) {
      int first = g * group;
      int count = Math.min(group, lanes - first);
      long scales = offset + scalesOffset(g);
      long zeros = offset + zerosOffset(g);
      for (int row = 0; row < entries; row++) {
        int at = row * lanes + first;
        UniformQuantizer quantizer = UniformQuantizer.of(x, at, 1, count, bits(), span);
        quantizer.quantize(x, at, count, words, codes, row * layout.columns() + first);
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
      int end = Math.min(first + group, lanes);
      for (int row = 0; row < entries; row++) {
        float step =
            unit() * Float.float16ToFloat(source.get(HALF, offset + scalesOffset(g) + 2L * row));
        float zero = Float.float16ToFloat(source.get(HALF, offset + zerosOffset(g) + 2L * row));
        for (int column = first; column < end; column++) {
          int code = codes[row * layout.columns() + column] & 0xFF;
          x[row * lanes + column] = Math.fma(step, code, zero);
        }
      }
    }
  }
}
