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
public final class EntryScaledCodes implements CodeGrid {
  private static final int STEP_KIND = 9;
  private static final int THIRD_KIND = 11;
  private static final int GROUP_STEP = 32;

  /** Its numbers in stored pages. */
  static final Map<Integer, Function<GridHeader, CodeGrid>> KINDS =
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
  public EntryScaledCodes(int entries, int lanes, int bits, int group) {
    this(entries, lanes, bits, group, ScaleSpan.STEP);
  }

  public EntryScaledCodes(int entries, int lanes, int bits, int group, ScaleSpan span) {
    if (group < 1 || group < lanes && group % GROUP_STEP != 0) {
      throw new IllegalArgumentException(
          "group is %d; expected a multiple of %d, or all %d lanes"
              .formatted(group, GROUP_STEP, lanes));
    }
    this.entries = entries;
    this.lanes = lanes;
    this.group = Math.min(group, lanes);
    this.span = span;
    this.layout = WordLayout.padded(entries, lanes, bits);
  }

  private static EntryScaledCodes of(GridHeader header, ScaleSpan span) {
    return new EntryScaledCodes(
        header.entries(), header.lanes(), header.bits(), header.group(), span);
  }

  @Override
  public GridHeader header() {
    int kind = span == ScaleSpan.STEP ? STEP_KIND : THIRD_KIND;
    return new GridHeader(kind, bits(), entries, lanes, group);
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
  public void pack(CodeRoom room, float[] x, MemorySegment target, long offset) {
    byte[] codes = room.codes(layout.entries() * layout.lanes());
    int[] words = room.words(layout.lanes());
    Arrays.fill(codes, 0, layout.entries() * layout.lanes(), (byte) 0);
    for (int g = 0; g < groups(); g++) {
      int first = g * group;
      int count = Math.min(group, lanes - first);
      long scales = offset + scalesOffset(g);
      long zeros = offset + zerosOffset(g);
      for (int entry = 0; entry < entries; entry++) {
        int at = entry * lanes + first;
        UniformGroup coded = UniformGroup.of(x, at, 1, count, bits(), span);
        coded.code(x, at, count, words, codes, entry * layout.lanes() + first);
        target.set(HALF, scales + 2L * entry, coded.scaleBits());
        target.set(HALF, zeros + 2L * entry, coded.zeroBits());
      }
    }
    layout.pack(room, codes, target, offset);
  }

  @Override
  public void expand(CodeRoom room, MemorySegment source, long offset, float[] x) {
    byte[] codes = room.codes(layout.entries() * layout.lanes());
    layout.unpack(room, source, offset, codes);
    for (int g = 0; g < groups(); g++) {
      int first = g * group;
      int end = Math.min(first + group, lanes);
      for (int entry = 0; entry < entries; entry++) {
        float step =
            unit() * Float.float16ToFloat(source.get(HALF, offset + scalesOffset(g) + 2L * entry));
        float zero = Float.float16ToFloat(source.get(HALF, offset + zerosOffset(g) + 2L * entry));
        for (int lane = first; lane < end; lane++) {
          int code = codes[entry * layout.lanes() + lane] & 0xFF;
          x[entry * lanes + lane] = Math.fma(step, code, zero);
        }
      }
    }
  }
}
