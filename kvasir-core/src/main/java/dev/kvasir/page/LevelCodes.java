package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;

/**
 * Vectors as their lengths and a level for each coordinate of their directions, of levels that suit
 * random directions ({@code UnitLevels}). Vectors are lanes, as keys are, or entries, as values
 * are. Levels are no line, so the codes are to be expanded.
 *
 * <pre>
 * codes    WordLayout(lanes up to a multiple of 16, entries up to a multiple of 4, bits)
 * lengths  (vectors)  f16
 *
 * bytes = codes + 2 * vectors
 * </pre>
 */
public final class LevelCodes implements CodeGrid {
  private static final int ENTRY_KIND = 20;
  private static final int LANE_KIND = 21;

  /** Its numbers in stored pages. */
  static final Map<Integer, Function<GridHeader, CodeGrid>> KINDS =
      Map.of(
          ENTRY_KIND, header -> of(header, false),
          LANE_KIND, header -> of(header, true));

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final float LARGEST_HALF = 65504;

  private final int entries;
  private final int lanes;
  private final boolean byLane;
  private final WordLayout layout;

  /**
   * @param byLane whether a lane is a vector, or else an entry
   */
  public LevelCodes(int entries, int lanes, int bits, boolean byLane) {
    int dimensions = byLane ? entries : lanes;
    if (dimensions < UnitLevels.LEAST_DIMENSIONS || dimensions > UnitLevels.MOST_DIMENSIONS) {
      throw new IllegalArgumentException(
          "a direction has %d coordinates; expected %d to %d"
              .formatted(dimensions, UnitLevels.LEAST_DIMENSIONS, UnitLevels.MOST_DIMENSIONS));
    }
    if (bits < 1 || bits > UnitLevels.MOST_BITS) {
      throw new IllegalArgumentException(
          "levels have %d bits; expected 1 to %d".formatted(bits, UnitLevels.MOST_BITS));
    }
    this.entries = entries;
    this.lanes = lanes;
    this.byLane = byLane;
    this.layout = WordLayout.padded(entries, lanes, bits);
  }

  private static LevelCodes of(GridHeader header, boolean byLane) {
    return new LevelCodes(header.entries(), header.lanes(), header.bits(), byLane);
  }

  @Override
  public GridHeader header() {
    return new GridHeader(byLane ? LANE_KIND : ENTRY_KIND, bits(), entries, lanes, 0);
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

  private int vectors() {
    return byLane ? lanes : entries;
  }

  private float[] levels() {
    return UnitLevels.of(bits(), byLane ? entries : lanes);
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
  public void pack(CodeRoom room, float[] x, MemorySegment target, long offset) {
    byte[] codes = room.codes(layout.entries() * layout.lanes());
    Arrays.fill(codes, 0, layout.entries() * layout.lanes(), (byte) 0);
    float[] levels = levels();
    for (int vector = 0; vector < vectors(); vector++) {
      short lengthBits = Float.floatToFloat16(length(x, vector));
      code(x, vector, Float.float16ToFloat(lengthBits), levels, codes);
      target.set(HALF, offset + layout.bytes() + 2L * vector, lengthBits);
    }
    layout.pack(room, codes, target, offset);
  }

  private float length(float[] x, int vector) {
    double sum = 0;
    int at = first(vector, lanes);
    for (int i = 0; i < dimensions(); i++, at += step(lanes)) {
      sum += (double) x[at] * x[at];
    }
    return (float) Math.min(Math.sqrt(sum), LARGEST_HALF);
  }

  private void code(float[] x, int vector, float length, float[] levels, byte[] codes) {
    int from = first(vector, lanes);
    int to = first(vector, layout.lanes());
    for (int i = 0; i < dimensions(); i++) {
      codes[to] = (byte) nearest(levels, length == 0 ? 0 : x[from] / length);
      from += step(lanes);
      to += step(layout.lanes());
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
    return byLane ? entries : lanes;
  }

  /** Where a vector's first coordinate lies in rows of so many lanes. */
  private int first(int vector, int stride) {
    return byLane ? vector : vector * stride;
  }

  private int step(int stride) {
    return byLane ? stride : 1;
  }

  @Override
  public void expand(CodeRoom room, MemorySegment source, long offset, float[] x) {
    byte[] codes = room.codes(layout.entries() * layout.lanes());
    layout.unpack(room, source, offset, codes);
    float[] levels = levels();
    float[] lengths = room.rows(vectors());
    for (int vector = 0; vector < vectors(); vector++) {
      short bits = source.get(HALF, offset + layout.bytes() + 2L * vector);
      lengths[vector] = Float.float16ToFloat(bits);
    }
    for (int entry = 0; entry < entries; entry++) {
      for (int lane = 0; lane < lanes; lane++) {
        float level = levels[codes[entry * layout.lanes() + lane]];
        x[entry * lanes + lane] = level * lengths[byLane ? lane : entry];
      }
    }
  }
}
