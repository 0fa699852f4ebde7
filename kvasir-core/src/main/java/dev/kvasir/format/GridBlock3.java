package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.half;
import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/**
 * Super-blocks of 256 values with about 3 bits, in 8 groups of 32. Every four values are a point of
 * a grid, and every eight have eight signs.
 */
enum GridBlock3 implements BlockLayout {
  /**
   * {@code value = d * (scale + 1/2) / 2 * (+-point)}.
   *
   * <pre>
   *   byte 0    2         66                       98
   *        | d  | qs: 64  | 8 ints                 |
   *   qs[f]  = point of values 4f..4f+3
   *   int of a group  bits 7l+6..7l = signs of its values 8l..8l+7, the eighth by parity
   *                   bits 31..28   = scale
   *   bytes = 2 + 64 + 8 * 4 = 98
   * </pre>
   */
  IQ3_XXS(98, IqGrid.signed(4, 12, 20, 28, 36, 44, 52, 62), false) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      float d = half(source, at);
      for (int four = 0; four < 64; four++) {
        IqGrid.IQ3_XXS.copy(unsignedByte(source, at + 2 + four), codes, codesAt + 4 * four);
      }
      for (int group = 0; group < 8; group++) {
        int signsAndScale = source.get(BlockReader.INT, at + 66 + 4 * group);
        scales[groupsAt + group] = d * ((signsAndScale >>> 28) + 0.5f) * 0.5f;
        for (int l = 0; l < 4; l++) {
          int signs = IqGrid.evenSigns(signsAndScale >>> 7 * l & 127);
          IqGrid.negate(codes, codesAt + 32 * group + 8 * l, signs);
        }
      }
    }
  },

  /**
   * {@code value = d * (2 * scale + 1) * (+-point)}. Points consist of odd numbers up to 15, so a
   * signed one is {@code 2 * code - 15} with a 4-bit code.
   *
   * <pre>
   *   byte 0    2         66      74          106         110
   *        | d  | qs: 64  | qh: 8 | signs: 32 | scales: 4 |
   *   of values 4f..4f+3  qs[f] = point, low eight bits; qh[f / 8]  bit f % 8 = its ninth bit
   *   signs[e]  = signs of values 8e..8e+7
   *   scales[g / 2]  bits 3..0 = scale of group g for an even g, 7..4 for an odd one
   *   bytes = 2 + 64 + 64 / 8 + 256 / 8 + 8 * 4 / 8 = 110
   * </pre>
   */
  IQ3_S(110, Codes.ofBits(4), true) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      float d = half(source, at);
      for (int group = 0; group < 8; group++) {
        int pair = unsignedByte(source, at + 106 + group / 2);
        float scale = d * (2 * (pair >>> 4 * (group % 2) & 15) + 1);
        scales[groupsAt + group] = 2 * scale;
        minimums[groupsAt + group] = -15 * scale;
      }
      for (int four = 0; four < 64; four++) {
        int low = unsignedByte(source, at + 2 + four);
        int high = unsignedByte(source, at + 66 + four / 8) >>> four % 8 & 1;
        IqGrid.IQ3_S.copy(low | high << 8, codes, codesAt + 4 * four);
      }
      for (int eight = 0; eight < 32; eight++) {
        IqGrid.negate(codes, codesAt + 8 * eight, unsignedByte(source, at + 74 + eight));
      }
      for (int i = codesAt; i < codesAt + 256; i++) {
        codes[i] = (byte) (codes[i] + 15 >> 1);
      }
    }
  };

  private final Shape shape;

  GridBlock3(int blockBytes, Codes codes, boolean hasMinimums) {
    this.shape = new Shape(256, blockBytes, 32, codes, hasMinimums);
  }

  @Override
  public Shape shape() {
    return shape;
  }
}
