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
public final class LaneScaledCodes implements CodeGrid {
  private static final int STEP_KIND = 10;
  private static final int THIRD_KIND = 12;

  /** Its numbers in stored pages. */
  static final Map<Integer, Function<GridHeader, CodeGrid>> KINDS =
      Map.of(
          STEP_KIND, header -> of(header, ScaleSpan.STEP),
          THIRD_KIND, header -> of(header, ScaleSpan.THIRD));

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int entries;
  private final int lanes;
  private final ScaleSpan span;
  private final WordLayout layout;

  public LaneScaledCodes(int entries, int lanes, int bits) {
    this(entries, lanes, bits, ScaleSpan.STEP);
  }

  public LaneScaledCodes(int entries, int lanes, int bits, ScaleSpan span) {
    this.entries = entries;
    this.lanes = lanes;
    this.span = span;
    this.layout = WordLayout.padded(entries, lanes, bits);
  }

  private static LaneScaledCodes of(GridHeader header, ScaleSpan span) {
    return new LaneScaledCodes(header.entries(), header.lanes(), header.bits(), span);
  }

  @Override
  public GridHeader header() {
    int kind = span == ScaleSpan.STEP ? STEP_KIND : THIRD_KIND;
    return new GridHeader(kind, bits(), entries, lanes, 0);
  }

  @Override
  public int entries() {
    return entries;
  }

  @Override
  public int lanes() {
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
  public void pack(CodeRoom room, float[] x, MemorySegment target, long offset) {
    byte[] codes = room.codes(layout.entries() * layout.lanes());
    Arrays.fill(codes, 0, layout.entries() * layout.lanes(), (byte) 0);
    for (int lane = 0; lane < lanes; lane++) {
      UniformGroup coded = UniformGroup.of(x, lane, lanes, entries, bits(), span);
      coded.code(x, lane, lanes, entries, codes, lane, layout.lanes());
      target.set(HALF, offset + scalesOffset() + 2L * lane, coded.scaleBits());
      target.set(HALF, offset + zerosOffset() + 2L * lane, coded.zeroBits());
    }
    layout.pack(room, codes, target, offset);
  }

  @Override
  public void expand(CodeRoom room, MemorySegment source, long offset, float[] x) {
    byte[] codes = room.codes(layout.entries() * layout.lanes());
    layout.unpack(room, source, offset, codes);
    for (int lane = 0; lane < lanes; lane++) {
      float step =
          unit() * Float.float16ToFloat(source.get(HALF, offset + scalesOffset() + 2L * lane));
      float zero = Float.float16ToFloat(source.get(HALF, offset + zerosOffset() + 2L * lane));
      for (int entry = 0; entry < entries; entry++) {
        int code = codes[entry * layout.lanes() + lane] & 0xFF;
        x[entry * lanes + lane] = Math.fma(step, code, zero);
      }
    }
  }
}
