package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.half;
import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/**
 * Blocks of 4-bit indices into a fixed table of signed bytes, the levels. Levels are not linear, so
 * the level itself is the code. Of 32 values, byte j has two indices:
 *
 * <pre>
 *   qs[j]  bits 3..0 = index of value j        bits 7..4 = index of value j + 16
 * </pre>
 */
enum TableBlock implements BlockLayout {
  /**
   * {@code value = d * LEVELS[nibble]}. Levels are denser near zero, for normally distributed
   * weights.
   *
   * <pre>
   *   byte 0    2                  18
   *        | d  | qs: 16           |       bytes = 2 + 32 * 4 / 8 = 18
   * </pre>
   */
  IQ4_NL(32, 2 + 16, 32, Levels.NORMAL, Scales.HALVES) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      scales[groupsAt] = half(source, at);
      unpackRun(source, at + 2, Levels.NORMAL, codes, codesAt);
    }
  },

  /**
   * 4-bit floats with a power-of-two scale, the OCP microscaling format: {@code value = 2^(e - 127)
   * * E2M1[nibble]}. Levels are doubled to be integers, and the scale is halved. An {@code e} of
   * 255 is NaN.
   *
   * <pre>
   *   byte 0    1                  17
   *        | e  | qs: 16           |       bytes = 1 + 32 * 4 / 8 = 17
   * </pre>
   */
  MXFP4(32, 1 + 16, 32, Levels.FLOAT, Scales.FLOATS) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      scales[groupsAt] = halfPowerOfTwo(unsignedByte(source, at));
      unpackRun(source, at + 1, Levels.FLOAT, codes, codesAt);
    }
  },

  /**
   * 4-bit floats with a scale for 16 of them, {@code value = scale * E2M1[nibble]}. A scale is a
   * float of four exponent and three fraction bits without a sign. Files give each matrix another
   * scale, in a tensor of its own.
   *
   * <pre>
   *   byte 0         4                  36
   *        | e4m3: 4 | qs: 32           |       bytes = 4 + 64 * 4 / 8 = 36
   *   qs[8 g + j]  bits 3..0 = value 16 g + j     bits 7..4 = value 16 g + j + 8
   * </pre>
   */
  NVFP4(64, 4 + 32, 16, Levels.FLOAT, Scales.FLOATS) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      for (int group = 0; group < 4; group++) {
        scales[block * 4 + group] = halfOfSmallFloat(unsignedByte(source, at + group));
        unpackRun(source, at + 4 + 8 * group, 16, Levels.FLOAT, codes, codesAt + 16 * group);
      }
    }
  };

  private static final int RUN = 32;

  static final class Levels {
    static final byte[] NORMAL = {
      -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
    };

    /** Twice the floats with one sign bit, two exponent bits and one fraction bit. */
    static final byte[] FLOAT = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  }

  private final Shape shape;

  TableBlock(int blockLength, int blockBytes, int groupLength, byte[] levels, Scales scales) {
    this.shape =
        new Shape(blockLength, blockBytes, groupLength, new Codes.Levels(levels), false, scales, 0);
  }

  @Override
  public Shape shape() {
    return shape;
  }

  static void unpackRun(
      MemorySegment source, long offset, byte[] levels, byte[] codes, int codesAt) {
    unpackRun(source, offset, RUN, levels, codes, codesAt);
  }

  static void unpackRun(
      MemorySegment source, long offset, int length, byte[] levels, byte[] codes, int codesAt) {
    for (int j = 0; j < length / 2; j++) {
      int pair = unsignedByte(source, offset + j);
      codes[codesAt + j] = levels[pair & 15];
      codes[codesAt + j + length / 2] = levels[pair >>> 4];
    }
  }

  /**
   * Returns half of a float {@code eeee fff} with a bias of 7, since levels are doubled. As in
   * ggml, the pattern of NaN is zero, and the highest bit means nothing.
   */
  private static float halfOfSmallFloat(int bits) {
    int exponent = bits >>> 3 & 15;
    int fraction = bits & 7;
    if (bits == 0x7F) {
      return 0;
    }
    return exponent == 0
        ? Math.scalb((float) fraction, -10)
        : Math.scalb(8f + fraction, exponent - 11);
  }

  /** Returns 2^(e - 128), which is subnormal for e of 0 and 1. */
  private static float halfPowerOfTwo(int e) {
    return e == 255 ? Float.NaN : Math.scalb(1f, e - 128);
  }
}
