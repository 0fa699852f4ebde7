package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.function.Function;

/**
 * Numbers that are kept as they are, as brain halves: the few channels of a page that any code
 * would hurt. Range matters more than digits there.
 *
 * <pre>
 * (entries, lanes)  bf16
 * bytes = 2 * entries * lanes
 * </pre>
 */
public record HalfCodes(int entries, int lanes) implements CodeGrid {
  private static final int KIND = 3;

  /** Its number in stored pages. */
  static final Map<Integer, Function<GridHeader, CodeGrid>> KINDS =
      Map.of(KIND, header -> new HalfCodes(header.entries(), header.lanes()));

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public GridHeader header() {
    return new GridHeader(KIND, bits(), entries, lanes, 0);
  }

  @Override
  public int bits() {
    return Short.SIZE;
  }

  @Override
  public int codeBytes() {
    return Short.BYTES * entries * lanes;
  }

  @Override
  public int bytes() {
    return codeBytes();
  }

  @Override
  public void pack(CodeRoom room, float[] x, MemorySegment target, long offset) {
    for (int i = 0; i < entries * lanes; i++) {
      target.set(SHORT, offset + 2L * i, HalfRounding.brain(x[i]));
    }
  }

  @Override
  public void expand(CodeRoom room, MemorySegment source, long offset, float[] x) {
    for (int i = 0; i < entries * lanes; i++) {
      x[i] = Float.intBitsToFloat(source.get(SHORT, offset + 2L * i) << 16);
    }
  }
}
