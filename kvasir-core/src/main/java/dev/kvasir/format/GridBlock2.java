package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.half;
import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/**
 * Super-blocks of 256 values with about 2 bits. Every eight values are a point of a grid and eight
 * signs: {@code value = d * (scale + 1/2) / 4 * (+-point)}, with 4-bit scales.
 */
enum GridBlock2 implements BlockLayout {
  /**
   *
   *
   * <pre>
   *   byte 0    2                                  66
   *        | d  | 8 groups of 32 values, 8 bytes   |
   *   group:  byte l, l &lt; 4                     = point of values 8l..8l+7
   *           int at byte 4  bits 7l+6..7l         = their signs, the eighth by parity
   *                          bits 31..28           = scale
   *   bytes = 2 + 8 * (4 + 4) = 66
   * </pre>
   */
  IQ2_XXS(66, 32) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      float d = half(source, at);
      for (int group = 0; group < 8; group++) {
        long entry = at + 2 + 8 * group;
        int signsAndScale = source.get(BlockReader.INT, entry + 4);
        scales[groupsAt + group] = scale(d, signsAndScale >>> 28);
        for (int l = 0; l < 4; l++) {
          int to = codesAt + 32 * group + 8 * l;
          IqGrid.IQ2_XXS.copy(unsignedByte(source, entry + l), codes, to);
          IqGrid.negate(codes, to, IqGrid.evenSigns(signsAndScale >>> 7 * l & 127));
        }
      }
    }
  },

  /**
   *
   *
   * <pre>
   *   byte 0    2                66           74
   *        | d  | 32 shorts      | scales: 8  |
   *   short e, of values 8e..8e+7  bits 8..0 = point, bits 15..9 = signs, the eighth by parity
   *   scales[g / 2]  bits 3..0 = scale of group g for an even g, 7..4 for an odd one
   *   bytes = 2 + 32 * 2 + 16 * 4 / 8 = 74
   * </pre>
   */
  IQ2_XS(74, 16) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      unpackScales(source, at, at + 66, scales, groupsAt);
      for (int eight = 0; eight < 32; eight++) {
        int pair = source.get(BlockReader.SHORT, at + 2 + 2 * eight) & 0xFFFF;
        int to = codesAt + 8 * eight;
        IqGrid.IQ2_XS.copy(pair & 511, codes, to);
        IqGrid.negate(codes, to, IqGrid.evenSigns(pair >>> 9));
      }
    }
  },

  /**
   *
   *
   * <pre>
   *   byte 0    2         34          66      74           82
   *        | d  | qs: 32  | signs: 32 | qh: 8 | scales: 8  |
   *   of values 8e..8e+7  qs[e] = point, low eight bits; signs[e] = signs
   *                       qh[e / 4]  bits 2i+1..2i = point, high two bits, i = e % 4
   *   scales as in IQ2_XS
   *   bytes = 2 + 32 + 32 + 32 * 2 / 8 + 16 * 4 / 8 = 82
   * </pre>
   */
  IQ2_S(82, 16) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      unpackScales(source, at, at + 74, scales, groupsAt);
      for (int eight = 0; eight < 32; eight++) {
        int low = unsignedByte(source, at + 2 + eight);
        int high = unsignedByte(source, at + 66 + eight / 4) >>> 2 * (eight % 4) & 3;
        int to = codesAt + 8 * eight;
        IqGrid.IQ2_S.copy(low | high << 8, codes, to);
        IqGrid.negate(codes, to, unsignedByte(source, at + 34 + eight));
      }
    }
  };

  private final Shape shape;

  GridBlock2(int blockBytes, int groupLength) {
    this.shape = new Shape(256, blockBytes, groupLength, IqGrid.signed(8, 25, 43), false);
  }

  @Override
  public Shape shape() {
    return shape;
  }

  private static void unpackScales(
      MemorySegment source, long offset, long nibbles, float[] scales, int at) {
    float d = half(source, offset);
    for (int pair = 0; pair < 8; pair++) {
      int both = unsignedByte(source, nibbles + pair);
      scales[at + 2 * pair] = scale(d, both & 15);
      scales[at + 2 * pair + 1] = scale(d, both >>> 4);
    }
  }

  private static float scale(float d, int stored) {
    return d * (stored + 0.5f) * 0.25f;
  }
}
