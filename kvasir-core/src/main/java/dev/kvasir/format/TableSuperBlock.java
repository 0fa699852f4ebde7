package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/** Super-blocks of 256 indices into a table of levels, in eight groups of 32. */
enum TableSuperBlock implements SuperBlock {
  /**
   * The levels of {@link TableBlock#IQ4_NL}, {@code value = d * (scale - 32) * level}.
   *
   * <pre>
   *   byte 0    2           4              8           136
   *        | d  | high: 2   | low: 4       | qs: 128   |
   *   low[g / 2]  bits 3..0 = scale g, low four, for an even g, 7..4 for an odd one
   *   high (little-endian short)  bits 2g+1..2g = scale g, high two
   *   bytes = 2 + 8 * (2 + 4) / 8 + 256 * 4 / 8 = 136
   * </pre>
   */
  IQ4_XS;

  private static final int GROUPS = 8;
  private static final int GROUP_LENGTH = 32;

  private static final Shape SHAPE =
      new Shape(
          GROUPS * GROUP_LENGTH,
          2 + 2 + 4 + 128,
          GROUP_LENGTH,
          new Codes.Levels(TableBlock.Levels.NORMAL),
          false,
          Scales.PRODUCTS,
          0);

  @Override
  public Shape shape() {
    return SHAPE;
  }

  @Override
  public void unpack(
      MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
    float d = Float.float16ToFloat(half(source, at));
    for (int group = 0; group < GROUPS; group++) {
      scales[block * GROUPS + group] = d * factor(source, at, group);
      int to = block * blockLength() + group * GROUP_LENGTH;
      long run = at + 8 + GROUP_LENGTH / 2 * group;
      TableBlock.unpackRun(source, run, GROUP_LENGTH, TableBlock.Levels.NORMAL, codes, to);
    }
  }

  @Override
  public short half(MemorySegment source, long offset) {
    return source.get(BlockReader.SHORT, offset);
  }

  @Override
  public int factor(MemorySegment source, long offset, int group) {
    int highs = source.get(BlockReader.SHORT, offset + 2);
    int low = unsignedByte(source, offset + 4 + group / 2) >>> 4 * (group % 2) & 15;
    int high = highs >>> 2 * group & 3;
    return (low | high << 4) - 32;
  }
}
