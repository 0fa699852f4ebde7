package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.format.SixBitScales;
import java.lang.foreign.MemorySegment;

/**
 * The layout of weights in blocks of 16 rows by 256 columns, as in blocks.cuh. A step of a matrix
 * instruction takes two columns of each group of 32, so that a lane of a warp needs the scales of
 * two rows and two groups only:
 *
 * <pre>
 * column: step j = column % 32 / 2, group 2q + h = column / 32, e = column % 2; row = 2r + s
 * lane = 4r + q
 *
 * bytes        (j / 2, lane, j % 2, h, s, e): codes of Q8_0 plus 128
 * nibbles      (j / 4, lane, j % 4) words, nibble 4e + 2h + s
 * fifth bits   (j / 4, lane) words, bit 16e + 4 (j % 4) + 2h + s
 * upper bits   (j / 4, lane, j / 2 % 2) words, bits 16e + 8 (j % 2) + 4h + 2s: of six-bit codes plus 32
 * scales       (lane, h, s) halves
 * pairs        (lane, s) shorts: lower four bits of minimum 2q + 1, scale 2q + 1, minimum 2q, scale 2q
 *              (lane, s) bytes:  their upper two bits
 *              (r, 2, s) halves: factors of scales, and of minimums with the opposite sign
 * byte scales  (lane, column % 32 / 16, h, s), then (row) halves as their factors
 * halves       (j, lane, h, s, e)
 *
 * Q8_0  bytes, scales               Q4_K  nibbles, pairs               F16  halves
 * Q4_0  nibbles plus 8, scales      Q5_K  nibbles, fifth bits, pairs
 *                                   Q6_K  nibbles, upper bits, byte scales
 * </pre>
 */
final class WeightBlocks {
  static final int ROWS = 16;
  static final int COLUMNS = 256;

  /** Products compute this many outputs at a time, so rows are padded to a multiple of it. */
  static final int ROW_STEP = 128;

  private static final int GROUPS = COLUMNS / 32;
  private static final int NIBBLE_BYTES = ROWS * COLUMNS / 2;

  private WeightBlocks() {}

  private static int lane(int row, int column) {
    return row % ROWS / 2 * 4 + column % COLUMNS / 64;
  }

  private static int step(int column) {
    return column % 32 / 2;
  }

  private static int half(int column) {
    return column / 32 % 2;
  }

  /** Returns the offset of an 8-bit code within its block. */
  static int byteOf(int row, int column) {
    int step = step(column);
    return step / 2 * 512
        + lane(row, column) * 16
        + step % 2 * 8
        + half(column) * 4
        + row % 2 * 2
        + column % 2;
  }

  /** Returns the offset of a nibble's byte within its block. */
  static int nibbleOf(int row, int column) {
    int step = step(column);
    return step / 4 * 512 + lane(row, column) * 16 + step % 4 * 4 + column % 2 * 2 + half(column);
  }

  /** Returns the shift of a nibble within its byte. */
  static int nibbleShift(int row) {
    return row % 2 * 4;
  }

  /** Returns the offset of a fifth bit's byte within its block. */
  static int fifthBitOf(int row, int column) {
    int step = step(column);
    return NIBBLE_BYTES + step / 4 * 128 + lane(row, column) * 4 + column % 2 * 2 + step % 4 / 2;
  }

  /** Returns the shift of a fifth bit within its byte. */
  static int fifthBitShift(int row, int column) {
    return step(column) % 2 * 4 + half(column) * 2 + row % 2;
  }

  /** Returns the offset of the byte with the upper two of six bits within its block. */
  static int upperBitsOf(int row, int column) {
    int step = step(column);
    return NIBBLE_BYTES
        + step / 4 * 256
        + lane(row, column) * 8
        + step / 2 % 2 * 4
        + column % 2 * 2
        + step % 2;
  }

  /** Returns the shift of the upper two bits within their byte. */
  static int upperBitsShift(int row, int column) {
    return half(column) * 4 + row % 2 * 2;
  }

  /** Returns the offset of a group's scale among halves, which follow the codes. */
  static int scaleOf(int row, int column) {
    return lane(row, column) * 8 + half(column) * 4 + row % 2 * 2;
  }

  /**
   * Returns the offset, among pairs, of the lower four bits of a scale; the minimum's are above.
   */
  static int lowerPairOf(int row, int column) {
    return lane(row, column) * 4 + row % 2 * 2 + half(column);
  }

  /** Returns the offset, among pairs, of the upper two bits of a scale and a minimum. */
  static int upperPairOf(int row, int column) {
    return 128 + lane(row, column) * 2 + row % 2;
  }

  /** Returns the shift of the upper bits of a scale within their byte; the minimum's are above. */
  static int upperPairShift(int column) {
    return half(column) * 4;
  }

  /**
   * Returns the offset, among pairs, of a row's factor of scales; minimums' are 4 bytes further.
   */
  static int pairFactorOf(int row) {
    return 192 + row % ROWS / 2 * 8 + row % 2 * 2;
  }

  /** Returns the offset of a scale among bytes, which follow the codes. */
  static int byteScaleOf(int row, int column) {
    return lane(row, column) * 8 + column % 32 / 16 * 4 + half(column) * 2 + row % 2;
  }

  /** Returns the offset of a row's factor after the scales that are bytes. */
  static int byteFactorOf(int row) {
    return 256 + row % ROWS * 2;
  }

  /** Returns the index of a half within its block. */
  static int halfOf(int row, int column) {
    return step(column) * 256 + lane(row, column) * 8 + half(column) * 4 + row % 2 * 2 + column % 2;
  }

  /**
   * Writes 256 codes of a row.
   *
   * @param codes of the row
   * @param column the first of the block
   */
  static void writeCodes(
      WeightFormat format, byte[] codes, MemorySegment target, long block, int row, int column) {
    for (int i = 0; i < COLUMNS; i++) {
      int code = codes[column + i];
      switch (format) {
        case BYTE_BLOCKS -> target.set(JAVA_BYTE, block + byteOf(row, i), (byte) (code + 128));
        case FIVE_BIT_BLOCKS -> {
          writeNibble(target, block, row, i, code);
          addBits(target, block + fifthBitOf(row, i), code >> 4 << fifthBitShift(row, i));
        }
        case SIX_BIT_BLOCKS -> {
          writeNibble(target, block, row, i, code + 32);
          addBits(target, block + upperBitsOf(row, i), code + 32 >> 4 << upperBitsShift(row, i));
        }
        default -> writeNibble(target, block, row, i, code);
      }
    }
  }

  private static void writeNibble(MemorySegment target, long block, int row, int column, int code) {
    addBits(target, block + nibbleOf(row, column), (code & 15) << nibbleShift(row));
  }

  /**
   * Writes the scales of 256 codes of a row.
   *
   * @param from offset of the first of the file's blocks
   * @param to offset of the scales in the target
   */
  static void writeScales(
      WeightFormat format,
      MemorySegment source,
      long from,
      MemorySegment target,
      long to,
      int row) {
    switch (format) {
      case BYTE_BLOCKS -> writeHalves(source, from, 34, target, to, row);
      case SIGNED_NIBBLE_BLOCKS -> writeHalves(source, from, 18, target, to, row);
      case SIX_BIT_BLOCKS -> writeByteScales(source, from, target, to, row);
      default -> writePairs(source, from, target, to, row);
    }
  }

  private static void writeHalves(
      MemorySegment source, long from, int blockBytes, MemorySegment target, long to, int row) {
    for (int group = 0; group < GROUPS; group++) {
      short scale = source.get(JAVA_SHORT_UNALIGNED, from + (long) group * blockBytes);
      target.set(JAVA_SHORT_UNALIGNED, to + scaleOf(row, 32 * group), scale);
    }
  }

  private static void writePairs(
      MemorySegment source, long from, MemorySegment target, long to, int row) {
    for (int group = 0; group < GROUPS; group++) {
      int column = 32 * group;
      int scale = SixBitScales.scale(source, from + 4, group);
      int minimum = SixBitScales.minimum(source, from + 4, group);
      addBits(target, to + lowerPairOf(row, column), scale & 15 | (minimum & 15) << 4);
      int upper = scale >>> 4 | minimum >>> 4 << 2;
      addBits(target, to + upperPairOf(row, column), upper << upperPairShift(column));
    }
    short scales = source.get(JAVA_SHORT_UNALIGNED, from);
    short minimums = source.get(JAVA_SHORT_UNALIGNED, from + 2);
    target.set(JAVA_SHORT_UNALIGNED, to + pairFactorOf(row), scales);
    target.set(JAVA_SHORT_UNALIGNED, to + pairFactorOf(row) + 4, (short) (minimums ^ 0x8000));
  }

  /** A block of Q6_K has 192 bytes of codes, 16 scales and their factor. */
  private static void writeByteScales(
      MemorySegment source, long from, MemorySegment target, long to, int row) {
    for (int group = 0; group < 2 * GROUPS; group++) {
      byte scale = source.get(JAVA_BYTE, from + 192 + group);
      target.set(JAVA_BYTE, to + byteScaleOf(row, 16 * group), scale);
    }
    short factor = source.get(JAVA_SHORT_UNALIGNED, from + 208);
    target.set(JAVA_SHORT_UNALIGNED, to + byteFactorOf(row), factor);
  }

  private static void addBits(MemorySegment target, long at, int bits) {
    target.set(JAVA_BYTE, at, (byte) (target.get(JAVA_BYTE, at) | bits));
  }
}
