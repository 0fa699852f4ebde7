package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.half;
import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/**
 * Super-blocks of 256 values with less than 2 bits. Every eight values are a point of a grid of -1,
 * 0, 1, shifted by an eighth up or down: {@code value = d * (2 * scale + 1) * (point +- 1/8)}, with
 * 3-bit scales.
 */
enum GridBlock1 implements BlockLayout {
  /**
   * All 32 values of a group have the same shift, which becomes the minimum; codes are 0..2.
   *
   * <pre>
   *   byte 0    2         34               50
   *        | d  | qs: 32  | qh: 8 shorts   |
   *   qs[e]  = point of values 8e..8e+7, low eight bits
   *   short of a group  bits 3l+2..3l = point of its values 8l..8l+7, high three bits
   *                     bits 14..12   = scale
   *                     bit 15        = 1 for a shift down
   *   bytes = 2 + 32 + 8 * 2 = 50
   * </pre>
   */
  IQ1_S(50, 32) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      float d = half(source, at);
      for (int group = 0; group < 8; group++) {
        int bits = source.get(BlockReader.SHORT, at + 34 + 2 * group) & 0xFFFF;
        float scale = d * (2 * (bits >>> 12 & 7) + 1);
        scales[groupsAt + group] = scale;
        minimums[groupsAt + group] = scale * (bits >>> 15 == 0 ? -0.875f : -1.125f);
        for (int l = 0; l < 4; l++) {
          int low = unsignedByte(source, at + 2 + 4 * group + l);
          int high = bits >>> 3 * l & 7;
          IqGrid.IQ1.copy(low | high << 8, codes, codesAt + 32 * group + 8 * l);
        }
      }
    }
  },

  /**
   * Every eight values have their own shift. In eighths of the scale, values are -9, -7, -1, 1, 7,
   * 9, which is {@code 2 * code - 9} with codes 0, 1, 4, 5, 8, 9.
   *
   * <pre>
   *   byte 0         32        48               56
   *        | qs: 32  | qh: 16  | 4 shorts       |
   *   of values 8e..8e+7  qs[e] = point, low eight bits
   *                       qh[e / 2]  bits 2..0 = point, high three bits, bit 3 = 1 for a shift down,
   *                                  of an even e; of an odd one bits 6..4 and 7
   *   short s  bits 3i+2..3i = scale of group 4s + i, i &lt; 4
   *            bits 15..12   = bits 4s+3..4s of d, an f16
   *   bytes = 32 + 32 * 4 / 8 + 16 * 3 / 8 + 2 = 56
   * </pre>
   */
  IQ1_M(56, 16) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      float d = scatteredHalf(source, at + 48);
      for (int group = 0; group < 16; group++) {
        int bits = source.get(BlockReader.SHORT, at + 48 + 2 * (group / 4));
        float scale = d * (2 * (bits >>> 3 * (group % 4) & 7) + 1);
        scales[groupsAt + group] = scale * 0.25f;
        minimums[groupsAt + group] = scale * -1.125f;
      }
      for (int eight = 0; eight < 32; eight++) {
        int low = unsignedByte(source, at + eight);
        int high = unsignedByte(source, at + 32 + eight / 2) >>> 4 * (eight % 2);
        int to = codesAt + 8 * eight;
        IqGrid.IQ1.copy(low | (high & 7) << 8, codes, to);
        int up = (high & 8) == 0 ? 1 : 0;
        for (int i = to; i < to + 8; i++) {
          codes[i] = (byte) (4 * codes[i] + up);
        }
      }
    }
  };

  private final Shape shape;

  GridBlock1(int blockBytes, int groupLength) {
    this.shape = new Shape(256, blockBytes, groupLength, Codes.ofBits(4), true);
  }

  @Override
  public Shape shape() {
    return shape;
  }

  private static float scatteredHalf(MemorySegment source, long shorts) {
    int bits = 0;
    for (int s = 0; s < 4; s++) {
      bits |= unsignedByte(source, shorts + 2 * s + 1) >>> 4 << 4 * s;
    }
    return Float.float16ToFloat((short) bits);
  }
}
