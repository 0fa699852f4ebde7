package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.half;
import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Blocks with one scale for several groups of 32, which is repeated for each group. */
enum OneScaleBlock implements BlockLayout {
  /**
   * Signs: {@code value = d} if the bit is set, else {@code -d}.
   *
   * <pre>
   *   byte 0    2                  18
   *        | d  | qs: 16           |     qs[j]  bit i = value 8j + i
   *   bytes = 2 + 128 / 8 = 18
   * </pre>
   */
  Q1_0(128, 2 + 16, Codes.ofBits(1), true, Scales.FLOATS, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      float d = half(source, at);
      repeat(2 * d, scales, groupsAt);
      repeat(-d, minimums, groupsAt);
      for (int i = 0; i < 128; i++) {
        codes[codesAt + i] = (byte) (unsignedByte(source, at + 2 + i / 8) >>> i % 8 & 1);
      }
    }
  },

  /**
   * 2 bits around zero, {@code value = d * (code - 1)}.
   *
   * <pre>
   *   byte 0    2                  18
   *        | d  | qs: 16           |     qs[j]  bits 2i+1..2i = value 4j + i
   *   bytes = 2 + 64 * 2 / 8 = 18
   * </pre>
   */
  Q2_0(64, 2 + 16, Codes.ofBits(2), true, Scales.HALVES, -1) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      around1(half(source, at), scales, groupsAt, minimums, groupsAt);
      for (int i = 0; i < 64; i++) {
        codes[codesAt + i] = (byte) (unsignedByte(source, at + 2 + i / 4) >>> 2 * (i % 4) & 3);
      }
    }
  },

  /**
   * Ternary digits, {@code value = d * (trit - 1)}. A byte has five or four trits as a fraction of
   * 256, the most significant first: multiplied by three, the integer part is the first trit, and
   * the remainder has the others.
   *
   * <pre>
   *   byte 0         48     52   54
   *        | qs: 48  | qh: 4 | d  |
   *   qs[m], m &lt; 32        trit n = value 32n + m
   *   qs[32 + m], m &lt; 16   trit n = value 160 + 16n + m
   *   qh[m]                trit n = value 240 + 4n + m, n &lt; 4
   *   bytes = 240 / 5 + 16 / 4 + 2 = 54
   * </pre>
   */
  TQ1_0(256, 48 + 4 + 2, Codes.ofBits(2), true, Scales.HALVES, -1) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      around1(half(source, at + 52), scales, groupsAt, minimums, groupsAt);
      unpackTrits(source, at, 32, 5, codes, codesAt);
      unpackTrits(source, at + 32, 16, 5, codes, codesAt + 160);
      unpackTrits(source, at + 48, 4, 4, codes, codesAt + 240);
    }
  },

  /**
   * 2 bits around zero, {@code value = d * (code - 1)}.
   *
   * <pre>
   *   byte 0         64   66
   *        | qs: 64  | d  |     qs[32 * half + m]  bits 2i+1..2i = value 128 * half + 32i + m
   *   bytes = 256 * 2 / 8 + 2 = 66
   * </pre>
   */
  TQ2_0(256, 64 + 2, Codes.ofBits(2), true, Scales.HALVES, -1) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      around1(half(source, at + 64), scales, groupsAt, minimums, groupsAt);
      for (int i = 0; i < 256; i++) {
        int four = unsignedByte(source, at + 32 * (i / 128) + i % 32);
        codes[codesAt + i] = (byte) (four >>> 2 * (i / 32 % 4) & 3);
      }
    }
  },

  /**
   * 8 bits around zero with a float scale, {@code value = d * code}. The sums are for ggml's dot
   * products and are not read.
   *
   * <pre>
   *   byte 0    4          260                          292
   *        | d  | qs: 256  | sums of 16 codes: 32       |
   *   bytes = 4 + 256 + 256 / 16 * 2 = 292
   * </pre>
   */
  Q8_K(256, 4 + 256 + 32, Codes.ofSignedBits(8), false, Scales.FLOATS, 0) {
    @Override
    public void unpack(
        MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block) {
      int codesAt = block * blockLength();
      int groupsAt = block * groupsPerBlock();
      repeat(source.get(BlockReader.FLOAT, at), scales, groupsAt);
      MemorySegment.copy(source, ValueLayout.JAVA_BYTE, at + 4, codes, codesAt, 256);
    }
  };

  private static final int GROUP_LENGTH = 32;

  private final Shape shape;

  OneScaleBlock(
      int blockLength,
      int blockBytes,
      Codes codes,
      boolean hasMinimums,
      Scales scales,
      int minimumFactor) {
    this.shape =
        new Shape(blockLength, blockBytes, GROUP_LENGTH, codes, hasMinimums, scales, minimumFactor);
  }

  @Override
  public Shape shape() {
    return shape;
  }

  void repeat(float number, float[] target, int at) {
    Arrays.fill(target, at, at + groupsPerBlock(), number);
  }

  /** Sets scales and minimums for codes in which 1 represents zero. */
  void around1(float d, float[] scales, int scalesAt, float[] minimums, int minimumsAt) {
    repeat(d, scales, scalesAt);
    repeat(-d, minimums, minimumsAt);
  }

  private static void unpackTrits(
      MemorySegment source, long offset, int bytes, int trits, byte[] codes, int codesAt) {
    for (int m = 0; m < bytes; m++) {
      int fraction = unsignedByte(source, offset + m);
      for (int n = 0; n < trits; n++) {
        codes[codesAt + n * bytes + m] = (byte) (3 * fraction >>> 8);
        fraction = 3 * fraction & 255;
      }
    }
  }
}
