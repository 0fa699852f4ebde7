package dev.kvasir.cuda.kernels;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Finds the only bit in which two arrays differ. Faster than sets of bits, of which tests need
 * 100,000.
 */
final class ChangedBit {
  private ChangedBit() {}

  /**
   * Returns rows of a tile with all differences that layouts make: neighbours, both halves, both
   * ends. All of them with {@code -Dkvasir.thorough=true}.
   */
  static List<Integer> someOf(int rows) {
    return Boolean.getBoolean("kvasir.thorough")
        ? IntStream.range(0, rows).boxed().toList()
        : List.of(0, 1, rows / 2 - 1, rows / 2, rows - 1);
  }

  /** Returns the index of the bit. */
  static int of(byte[] before, byte[] after) {
    int at = Arrays.mismatch(before, after);
    int bits = at < 0 ? 0 : (before[at] ^ after[at]) & 0xff;
    int next = at + 1;
    if (Integer.bitCount(bits) != 1
        || Arrays.mismatch(before, next, before.length, after, next, after.length) >= 0) {
      throw new AssertionError("not one bit differs, first at byte " + at);
    }
    return 8 * at + Integer.numberOfTrailingZeros(bits);
  }
}
