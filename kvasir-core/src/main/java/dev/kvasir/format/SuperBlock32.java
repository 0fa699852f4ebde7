package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/**
 * Super-blocks of 256 values in 8 groups of 32, {@code value = d * scale * code - dmin * minimum}
 * with scales and minimums of 6 bits ({@link SixBitScales}).
 *
 * <p>Nibbles alternate between pairs of groups: byte {@code 32 * (group / 2) + l} of qs has value l
 * of an even group in bits 3..0 and value l of the next, odd group in bits 7..4.
 */
enum SuperBlock32 implements SuperBlock {
  /**
   * Codes are 0..15.
   *
   * <pre>
   *   byte 0    2      4            16           144
   *        | d  | dmin | scales: 12 | qs: 128    |
   *   bytes = 2 + 2 + 12 + 256 * 4 / 8 = 144
   * </pre>
   */
  Q4_K(2 + 2 + 12 + 128, Codes.ofBits(4)) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      unpackScales(source, at, scales, groupsAt);
      unpackMinimums(source, at, minimums, groupsAt);
      for (int group = 0; group < GROUPS; group++) {
        long column = at + 16 + 32 * (group / 2);
        int shift = 4 * (group % 2);
        for (int l = 0; l < 32; l++) {
          codes[codesAt + 32 * group + l] =
              (byte) ((unsignedByte(source, column + l) >>> shift) & 15);
        }
      }
    }
  },

  /**
   * Codes are 0..31.
   *
   * <pre>
   *   byte 0    2      4            16        48           176
   *        | d  | dmin | scales: 12 | qh: 32  | qs: 128    |
   *   qh[l]  bit group = fifth bit of value 32 * group + l
   *   bytes = 2 + 2 + 12 + 256 / 8 + 256 * 4 / 8 = 176
   * </pre>
   */
  Q5_K(2 + 2 + 12 + 32 + 128, Codes.ofBits(5)) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      unpackScales(source, at, scales, groupsAt);
      unpackMinimums(source, at, minimums, groupsAt);
      for (int group = 0; group < GROUPS; group++) {
        long column = at + 48 + 32 * (group / 2);
        int shift = 4 * (group % 2);
        for (int l = 0; l < 32; l++) {
          int low = (unsignedByte(source, column + l) >>> shift) & 15;
          int high = (unsignedByte(source, at + 16 + l) >>> group) & 1;
          codes[codesAt + 32 * group + l] = (byte) (low | high << 4);
        }
      }
    }
  };

  private static final int LENGTH = 256;
  private static final int GROUP_LENGTH = 32;
  private static final int GROUPS = LENGTH / GROUP_LENGTH;

  private final Shape shape;

  SuperBlock32(int blockBytes, Codes codes) {
    this.shape = new Shape(LENGTH, blockBytes, GROUP_LENGTH, codes, true, Scales.PRODUCTS, 0);
  }

  @Override
  public Shape shape() {
    return shape;
  }

  @Override
  public short half(MemorySegment source, long offset) {
    return source.get(BlockReader.SHORT, offset);
  }

  @Override
  public int factor(MemorySegment source, long offset, int group) {
    return SixBitScales.scale(source, offset + 4, group);
  }

  @Override
  public short minimumHalf(MemorySegment source, long offset) {
    return BlockReader.negatedHalf(source, offset + 2);
  }

  @Override
  public int minimumFactor(MemorySegment source, long offset, int group) {
    return SixBitScales.minimum(source, offset + 4, group);
  }

  void unpackScales(MemorySegment source, long offset, float[] scales, int at) {
    float d = Float.float16ToFloat(half(source, offset));
    for (int g = 0; g < GROUPS; g++) {
      scales[at + g] = d * factor(source, offset, g);
    }
  }

  void unpackMinimums(MemorySegment source, long offset, float[] minimums, int at) {
    float d = Float.float16ToFloat(minimumHalf(source, offset));
    for (int g = 0; g < GROUPS; g++) {
      minimums[at + g] = d * minimumFactor(source, offset, g);
    }
  }
}
