package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.function.Function;

/**
 * Uniform codes of 16 bits, which hold what halves hold. Too wide for sums of bytes, they lie in
 * rows that share scales, to be expanded in one run: tokens, where keys or values are coded by
 * token, or channels of keys. Scales span a third of a range and lie as in the narrower codes, so
 * that a page may be made narrower without touching them.
 *
 * <pre>
 * rows are the lanes where codes are by lane, else the entries
 * codes   (rows, columns)                   i16, code - 32768: signed numbers turn to floats faster
 * scales  (ceil(columns / group), rows)     f16
 * zeros   (ceil(columns / group), rows)     f16
 *
 * bytes = 2 * rows * columns + 4 * ceil(columns / group) * rows
 * </pre>
 *
 * @param byLane whether a scale belongs to a lane, as in {@link LaneScaledCodes}, or to an entry
 * @param group columns that share a row's scale
 */
public record WideCodes(int entries, int lanes, boolean byLane, int group) implements CodeGrid {
  private static final int ENTRY_KIND = 6;
  private static final int LANE_KIND = 7;

  /** Its numbers in stored pages. */
  static final Map<Integer, Function<GridHeader, CodeGrid>> KINDS =
      Map.of(ENTRY_KIND, header -> of(header, false), LANE_KIND, header -> of(header, true));

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** What is taken off a code to make it a signed number. */
  public static final int MIDDLE = 1 << 15;

  public WideCodes {
    int columns = byLane ? entries : lanes;
    if (entries < 1 || lanes < 1 || group < 1 || byLane && group < columns) {
      throw new IllegalArgumentException(
          "group is %d; expected at least 1, and all %d columns of a lane"
              .formatted(group, columns));
    }
    group = Math.min(group, columns);
  }

  private static WideCodes of(GridHeader header, boolean byLane) {
    return new WideCodes(header.entries(), header.lanes(), byLane, header.group());
  }

  @Override
  public GridHeader header() {
    return new GridHeader(byLane ? LANE_KIND : ENTRY_KIND, bits(), entries, lanes, group);
  }

  @Override
  public int bits() {
    return Short.SIZE;
  }

  public int rows() {
    return byLane ? lanes : entries;
  }

  public int columns() {
    return byLane ? entries : lanes;
  }

  public int groups() {
    return Math.ceilDiv(columns(), group);
  }

  @Override
  public int codeBytes() {
    return Short.BYTES * entries * lanes;
  }

  @Override
  public int bytes() {
    return codeBytes() + 4 * groups() * rows();
  }

  /** Where the scales of a group of columns begin. */
  public long scalesOffset(int groupIndex) {
    return codeBytes() + 2L * groupIndex * rows();
  }

  /** Where the zeros of a group of columns begin. */
  public long zerosOffset(int groupIndex) {
    return scalesOffset(groups() + groupIndex);
  }

  @Override
  public void pack(CodeRoom room, float[] x, MemorySegment target, long offset) {
    float[] numbers = byLane ? turned(room, x, entries, lanes) : x;
    short[] codes = room.wideCodes(entries * lanes);
    for (int row = 0; row < rows(); row++) {
      for (int g = 0; g < groups(); g++) {
        int at = row * columns() + g * group;
        int count = Math.min(group, columns() - g * group);
        UniformGroup coded = UniformGroup.of(numbers, at, 1, count, bits(), ScaleSpan.THIRD);
        coded.code(numbers, at, count, codes, at);
        target.set(SHORT, offset + scalesOffset(g) + 2L * row, coded.scaleBits());
        target.set(SHORT, offset + zerosOffset(g) + 2L * row, coded.zeroBits());
      }
    }
    for (int i = 0; i < entries * lanes; i++) {
      codes[i] -= (short) MIDDLE;
    }
    MemorySegment.copy(codes, 0, target, SHORT, offset, entries * lanes);
  }

  /** Codes as they lie, less 32768: (rows, columns). */
  public short[] codes(CodeRoom room, MemorySegment source, long offset) {
    short[] codes = room.wideCodes(entries * lanes);
    MemorySegment.copy(source, SHORT, offset, codes, 0, entries * lanes);
    return codes;
  }

  @Override
  public void expand(CodeRoom room, MemorySegment source, long offset, float[] x) {
    if (byLane) {
      float[] rows = room.rows(entries * lanes);
      expandRows(room, source, offset, rows);
      turn(rows, lanes, entries, x);
    } else {
      expandRows(room, source, offset, x);
    }
  }

  /** The numbers as they lie: (rows, columns). */
  public void expandRows(CodeRoom room, MemorySegment source, long offset, float[] out) {
    short[] codes = codes(room, source, offset);
    float unit = ScaleSpan.THIRD.unit(bits());
    for (int row = 0; row < rows(); row++) {
      for (int g = 0; g < groups(); g++) {
        float step = unit * half(source, offset + scalesOffset(g) + 2L * row);
        float middle = half(source, offset + zerosOffset(g) + 2L * row) + MIDDLE * step;
        int from = row * columns() + g * group;
        int to = from + Math.min(group, columns() - g * group);
        // A constant group must come back as it is, and the others to half a step.
        for (int i = from; i < to; i++) {
          out[i] = codes[i] * step + middle;
        }
      }
    }
  }

  private static float half(MemorySegment source, long offset) {
    return Float.float16ToFloat(source.get(SHORT, offset));
  }

  private static float[] turned(CodeRoom room, float[] x, int rows, int columns) {
    float[] out = room.rows(rows * columns);
    turn(x, rows, columns, out);
    return out;
  }

  /** (rows, columns) to (columns, rows). */
  private static void turn(float[] x, int rows, int columns, float[] out) {
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        out[column * rows + row] = x[row * columns + column];
      }
    }
  }
}
