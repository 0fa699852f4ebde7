package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.format.SixBitScales;
import java.lang.foreign.MemorySegment;

/**
 * The layout of super-block scales on a device, for 16 rows by 256 columns: the halves of all rows,
 * then the scales of each of eight chunks of 32 columns.
 *
 * <pre>
 * Q4_K, Q5_K   (16 rows, 2) halves, of scales and of minimums
 *              (8 chunks) of 24 bytes: (8) u16, (8) u8, 24 bits for rows r and r + 8:
 *              bit 23           18 17        12 11        6 5        0
 *                 | minimum r + 8 | scale r + 8 | minimum r | scale r |
 * Q6_K         (16 rows) halves
 *              (8 chunks, 8 rows, 2 times 16 columns, rows r and r + 8) signed bytes
 * </pre>
 */
final class KQuantScales {
  private static final int GROUPS = 8; // chunks of a super-block
  private static final int TILE_ROWS = WeightFormat.TILE_ROWS;

  private static final int PAIR_HALVES = TILE_ROWS * 4;
  private static final int PAIR_CHUNK = TILE_ROWS * 12 / Byte.SIZE;
  private static final int SIGNED_HALVES = TILE_ROWS * 2;
  private static final int SIGNED_CHUNK = TILE_ROWS * 2;

  /** Bytes of 16 super-blocks with 6-bit scales and minimums. */
  static final int PAIR_BYTES = PAIR_HALVES + GROUPS * PAIR_CHUNK;

  /** Bytes of 16 super-blocks with signed bytes as scales. */
  static final int SIGNED_BYTES = SIGNED_HALVES + GROUPS * SIGNED_CHUNK;

  private KQuantScales() {}

  /**
   * Writes the scales of a block of Q4_K or Q5_K.
   *
   * @param to offset of the 16 super-blocks; the bits of this row must be zero
   */
  static void writePairs(MemorySegment source, long block, MemorySegment target, long to, int row) {
    copyHalf(source, block, target, to + row * 4);
    copyHalf(source, block + 2, target, to + row * 4 + 2);
    for (int group = 0; group < GROUPS; group++) {
      int scale = SixBitScales.scale(source, block + 4, group);
      int minimum = SixBitScales.minimum(source, block + 4, group);
      int fields = (scale | minimum << 6) << 12 * (row / 8);
      long at = to + PAIR_HALVES + group * PAIR_CHUNK;
      addBits(target, at + row % 8 * 2, fields);
      addBits(target, at + row % 8 * 2 + 1, fields >>> 8);
      addBits(target, at + 16 + row % 8, fields >>> 16);
    }
  }

  /** Writes the scales of a block of Q6_K. */
  static void writeSigned(
      MemorySegment source, long block, MemorySegment target, long to, int row) {
    copyHalf(source, block + 208, target, to + row * 2);
    for (int group = 0; group < 2 * GROUPS; group++) {
      long at = to + SIGNED_HALVES + group / 2 * SIGNED_CHUNK;
      target.set(
          JAVA_BYTE,
          at + row % 8 * 4 + group % 2 * 2 + row / 8,
          source.get(JAVA_BYTE, block + 192 + group));
    }
  }

  private static void copyHalf(MemorySegment source, long from, MemorySegment target, long to) {
    target.set(JAVA_SHORT_UNALIGNED, to, source.get(JAVA_SHORT_UNALIGNED, from));
  }

  private static void addBits(MemorySegment target, long at, int bits) {
    target.set(JAVA_BYTE, at, (byte) (target.get(JAVA_BYTE, at) | bits));
  }
}
