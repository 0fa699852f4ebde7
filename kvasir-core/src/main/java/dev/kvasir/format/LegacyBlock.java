package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.half;
import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * ggml's legacy types: 32 values in one group, with an f16 scale d, and an f16 minimum m in the
 * {@code _1} types. With 4-bit codes, byte j has values j and j + 16:
 *
 * <pre>
 *   qs[j]   bit 7      4 3        0        qh (little-endian int)   bit i = fifth bit of code i
 *              code j+16 |  code j
 * </pre>
 */
enum LegacyBlock implements BlockLayout {
  /**
   * 4 bits around zero, {@code value = d * (code - 8)}. The -8 becomes a minimum so that the codes
   * stay nibbles.
   *
   * <pre>
   *   byte 0    2                  18
   *        | d  | qs: 16           |          bytes = 2 + 32 * 4 / 8 = 18
   * </pre>
   */
  Q4_0(2 + 16, Codes.ofBits(4), true, -8) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      float d = half(source, at);
      scales[block] = d;
      minimums[block] = -8 * d;
      unpackNibbles(source, at + 2, 0, 0, codes, LENGTH * block);
    }
  },

  /**
   * 4 bits above a minimum, {@code value = d * code + m}.
   *
   * <pre>
   *   byte 0    2    4                  20
   *        | d  | m  | qs: 16           |     bytes = 2 + 2 + 32 * 4 / 8 = 20
   * </pre>
   */
  Q4_1(2 + 2 + 16, Codes.ofBits(4), true, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      scales[block] = half(source, at);
      minimums[block] = half(source, at + 2);
      unpackNibbles(source, at + 4, 0, 0, codes, LENGTH * block);
    }
  },

  /**
   * 5 bits around zero, {@code value = d * (code - 16)}; unpacked codes are -16..15.
   *
   * <pre>
   *   byte 0    2      6                  22
   *        | d  | qh: 4| qs: 16           |   bytes = 2 + 32 / 8 + 32 * 4 / 8 = 22
   * </pre>
   */
  Q5_0(2 + 4 + 16, Codes.ofSignedBits(5), false, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      scales[block] = half(source, at);
      int fifthBits = source.get(BlockReader.INT, at + 2);
      unpackNibbles(source, at + 6, fifthBits, 16, codes, LENGTH * block);
    }
  },

  /**
   * 5 bits above a minimum, {@code value = d * code + m}; codes are 0..31.
   *
   * <pre>
   *   byte 0    2    4      8                  24
   *        | d  | m  | qh: 4| qs: 16           |   bytes = 2 + 2 + 32 / 8 + 32 * 4 / 8 = 24
   * </pre>
   */
  Q5_1(2 + 2 + 4 + 16, Codes.ofBits(5), true, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      scales[block] = half(source, at);
      minimums[block] = half(source, at + 2);
      int fifthBits = source.get(BlockReader.INT, at + 4);
      unpackNibbles(source, at + 8, fifthBits, 0, codes, LENGTH * block);
    }
  },

  /**
   * 8 bits around zero, {@code value = d * code}; the only type with unpacked codes.
   *
   * <pre>
   *   byte 0    2                                   34
   *        | d  | 32 signed bytes, in value order   |   bytes = 2 + 32 = 34
   * </pre>
   */
  Q8_0(2 + 32, Codes.ofSignedBits(8), false, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      scales[block] = half(source, at);
      MemorySegment.copy(source, ValueLayout.JAVA_BYTE, at + 2, codes, LENGTH * block, LENGTH);
    }

    /**
     * Works without a memory segment, which is slow before JIT compilation, when weights are
     * loaded.
     */
    @Override
    public void unpackAll(byte[] blocks, byte[] codes, float[] scales, float[] minimums) {
      for (int block = 0, at = 0; block < codes.length / LENGTH; block++, at += blockBytes()) {
        short half = (short) (blocks[at] & 0xFF | blocks[at + 1] << 8);
        scales[block] = Float.float16ToFloat(half);
        System.arraycopy(blocks, at + 2, codes, block * LENGTH, LENGTH);
      }
    }
  };

  private static final int LENGTH = 32;

  private final Shape shape;

  LegacyBlock(int blockBytes, Codes codes, boolean hasMinimums, int minimumFactor) {
    this.shape =
        new Shape(LENGTH, blockBytes, LENGTH, codes, hasMinimums, Scales.HALVES, minimumFactor);
  }

  @Override
  public Shape shape() {
    return shape;
  }

  private static void unpackNibbles(
      MemorySegment source, long offset, int fifthBits, int bias, byte[] codes, int codesAt) {
    for (int j = 0; j < LENGTH / 2; j++) {
      int pair = unsignedByte(source, offset + j);
      int low = (pair & 15) | ((fifthBits >>> j) & 1) << 4;
      int high = (pair >>> 4) | ((fifthBits >>> (j + 16)) & 1) << 4;
      codes[codesAt + j] = (byte) (low - bias);
      codes[codesAt + j + 16] = (byte) (high - bias);
    }
  }
}
