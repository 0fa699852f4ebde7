package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Super-blocks of 256 values in 16 groups of 16, with small integer scales and one f16.
 *
 * <p>All three arrange values in runs of 32; a byte has the same position of several runs. With
 * {@code value = 32 * run + l}, {@code half = run / 4}, {@code j = run % 4}:
 *
 * <pre>
 *   2-bit field of a value:  byte 32 * half + l, bits 2j+1..2j
 *   bit 7   6 5   4 3   2 1   0
 *      j = 3 |  2  |  1  |  0
 * </pre>
 */
enum SuperBlock16 implements SuperBlock {
  /**
   * 2 bits above a minimum, {@code value = d * scale * code - dmin * minimum}; codes are 0..3.
   *
   * <pre>
   *   byte 0            16            80   82     84
   *        | scales: 16 | qs: 64      | d  | dmin |
   *   scales[group]  bits 3..0 = scale, bits 7..4 = minimum
   *   bytes = 256 / 16 + 256 * 2 / 8 + 2 + 2 = 84
   * </pre>
   */
  Q2_K(16 + 64 + 2 + 2, Codes.ofBits(2), 80, true, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      unpackScales(source, at, scales, groupsAt);
      float dmin = Float.float16ToFloat(minimumHalf(source, at));
      for (int group = 0; group < GROUPS; group++) {
        minimums[groupsAt + group] = dmin * minimumFactor(source, at, group);
      }
      for (int run = 0; run < RUNS; run++) {
        long column = at + 16 + 32 * (run / 4);
        int shift = 2 * (run % 4);
        for (int l = 0; l < 32; l++) {
          codes[codesAt + 32 * run + l] = (byte) ((unsignedByte(source, column + l) >>> shift) & 3);
        }
      }
    }

    @Override
    public int factor(MemorySegment source, long offset, int group) {
      return unsignedByte(source, offset + group) & 15;
    }

    @Override
    public short minimumHalf(MemorySegment source, long offset) {
      return BlockReader.negatedHalf(source, offset + 82);
    }

    @Override
    public int minimumFactor(MemorySegment source, long offset, int group) {
      return unsignedByte(source, offset + group) >>> 4;
    }
  },

  /**
   * 3 bits around zero, {@code value = d * (scale - 32) * (code - 4)}. The -4 becomes a minimum so
   * that the codes stay nibbles, 0..7.
   *
   * <pre>
   *   byte 0           32         96           108  110
   *        | hmask: 32 | qs: 64   | scales: 12 | d  |
   *   hmask[l]  bit run = third bit of value 32 * run + l
   *   scales: 6 bits each, the low four first, then the high two
   *     byte b in 0..7       bits 3..0 = scale b, low       bits 7..4 = scale b + 8, low
   *     byte 8 + b, b &lt; 4    bits 2i+1..2i = scale b + 4i, high
   *   bytes = 256 / 8 + 256 * 2 / 8 + 16 * 6 / 8 + 2 = 110
   * </pre>
   */
  Q3_K(32 + 64 + 12 + 2, Codes.ofBits(3), 108, true, -4) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      unpackScales(source, at, scales, groupsAt);
      for (int group = 0; group < GROUPS; group++) {
        minimums[groupsAt + group] = -4 * scales[groupsAt + group];
      }
      for (int run = 0; run < RUNS; run++) {
        long column = at + 32 + 32 * (run / 4);
        int shift = 2 * (run % 4);
        for (int l = 0; l < 32; l++) {
          int low = (unsignedByte(source, column + l) >>> shift) & 3;
          int high = (unsignedByte(source, at + l) >>> run) & 1;
          codes[codesAt + 32 * run + l] = (byte) (low | high << 2);
        }
      }
    }

    @Override
    public int factor(MemorySegment source, long offset, int group) {
      int low = (unsignedByte(source, offset + 96 + group % 8) >>> 4 * (group / 8)) & 15;
      int high = (unsignedByte(source, offset + 104 + group % 4) >>> 2 * (group / 4)) & 3;
      return (low | high << 4) - 32;
    }
  },

  /**
   * 6 bits around zero, {@code value = d * scale * (code - 32)} with signed byte scales; unpacked
   * codes are -32..31.
   *
   * <pre>
   *   byte 0          128       192          208  210
   *        | ql: 128  | qh: 64  | scales: 16 | d  |
   *   ql, low four bits:  byte 64 * half + 32 * (j % 2) + l,  bits 3..0 for j &lt; 2, else 7..4
   *   qh, high two bits:  the 2-bit field above
   *   bytes = 256 * 4 / 8 + 256 * 2 / 8 + 256 / 16 + 2 = 210
   * </pre>
   */
  Q6_K(128 + 64 + 16 + 2, Codes.ofSignedBits(6), 208, false, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      unpackScales(source, at, scales, groupsAt);
      for (int run = 0; run < RUNS; run++) {
        int half = run / 4;
        int j = run % 4;
        long lowColumn = at + 64 * half + 32 * (j % 2);
        long highColumn = at + 128 + 32 * half;
        for (int l = 0; l < 32; l++) {
          int low = (unsignedByte(source, lowColumn + l) >>> 4 * (j / 2)) & 15;
          int high = (unsignedByte(source, highColumn + l) >>> 2 * j) & 3;
          codes[codesAt + 32 * run + l] = (byte) ((low | high << 4) - 32);
        }
      }
    }

    @Override
    public int factor(MemorySegment source, long offset, int group) {
      return source.get(ValueLayout.JAVA_BYTE, offset + 192 + group);
    }
  };

  private static final int LENGTH = 256;
  private static final int GROUP_LENGTH = 16;
  private static final int GROUPS = LENGTH / GROUP_LENGTH;
  private static final int RUNS = LENGTH / 32;

  private final Shape shape;
  private final int halfAt;

  SuperBlock16(int blockBytes, Codes codes, int halfAt, boolean hasMinimums, int minimumFactor) {
    this.shape =
        new Shape(
            LENGTH, blockBytes, GROUP_LENGTH, codes, hasMinimums, Scales.PRODUCTS, minimumFactor);
    this.halfAt = halfAt;
  }

  @Override
  public Shape shape() {
    return shape;
  }

  @Override
  public short half(MemorySegment source, long offset) {
    return source.get(BlockReader.SHORT, offset + halfAt);
  }

  void unpackScales(MemorySegment source, long offset, float[] scales, int at) {
    float d = Float.float16ToFloat(half(source, offset));
    for (int group = 0; group < GROUPS; group++) {
      scales[at + group] = d * factor(source, offset, group);
    }
  }
}
