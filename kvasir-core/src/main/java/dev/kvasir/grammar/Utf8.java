package dev.kvasir.grammar;

import java.util.ArrayList;
import java.util.List;

/** Converts code points to sequences of UTF-8 byte ranges. */
final class Utf8 {
  /** The last code point of each encoded length, from one byte on. */
  private static final int[] LAST_OF_LENGTH = {0x7F, 0x7FF, 0xFFFF, 0x10FFFF};

  /**
   * Returns sequences of ranges, one range per byte, as alternating lowest and highest values: (2 *
   * length).
   */
  static List<int[]> sequences(CodePoints points) {
    List<int[]> found = new ArrayList<>();
    for (CodePoints.Range range : points.ranges()) {
      int first = range.first();
      for (int last : LAST_OF_LENGTH) {
        if (first <= Math.min(last, range.last())) {
          split(first, Math.min(last, range.last()), found);
          first = last + 1;
        }
      }
    }
    return found;
  }

  /**
   * Splits a range of code points with the same encoded length. It is one sequence if all bytes
   * after the first difference cover all 64 values; otherwise it is split at such a boundary.
   */
  private static void split(int first, int last, List<int[]> found) {
    int length = length(first);
    for (int trailing = 1; trailing < length; trailing++) {
      int mask = (1 << 6 * trailing) - 1;
      if ((first & ~mask) != (last & ~mask)) {
        if ((first & mask) != 0) {
          split(first, first | mask, found);
          split((first | mask) + 1, last, found);
          return;
        }
        if ((last & mask) != mask) {
          split(first, (last & ~mask) - 1, found);
          split(last & ~mask, last, found);
          return;
        }
      }
    }
    int[] bytes = new int[2 * length];
    for (int i = 0; i < length; i++) {
      bytes[2 * i] = unit(first, i, length);
      bytes[2 * i + 1] = unit(last, i, length);
    }
    found.add(bytes);
  }

  private static int length(int codePoint) {
    int length = 1;
    while (codePoint > LAST_OF_LENGTH[length - 1]) {
      length++;
    }
    return length;
  }

  private static int unit(int codePoint, int index, int length) {
    if (length == 1) {
      return codePoint;
    }
    int bits = codePoint >> 6 * (length - 1 - index);
    return index == 0 ? 0xF00 >> length & 0xFF | bits : 0x80 | bits & 0x3F;
  }

  private Utf8() {}
}
