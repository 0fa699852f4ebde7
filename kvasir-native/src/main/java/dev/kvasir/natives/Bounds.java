package dev.kvasir.natives;

import dev.kvasir.kernel.RowBlock;

/**
 * Bounds checks for native functions, which write without checks. One check per call turns a
 * mistake into an exception instead of heap corruption.
 */
final class Bounds {
  private Bounds() {}

  /** Checks the number of elements used. */
  static void check(int available, int used) {
    if (used > available) {
      throw new IndexOutOfBoundsException("%d of %d".formatted(used, available));
    }
  }

  /** Checks rows of {@code length} values that start {@code stride} apart. */
  static void check(int available, int at, int rows, int stride, int length) {
    if (rows > 0 && length > 0) {
      long last = at + (long) (rows - 1) * stride;
      if (at < 0 || stride < 0 || last + length > available) {
        throw new IndexOutOfBoundsException("%d of %d".formatted(last + length, available));
      }
    }
  }

  /** Checks all rows of a block. */
  static void check(RowBlock block) {
    check(block.values().length, block.at(), block.rows(), block.stride(), block.width());
  }

  /** Checks a run of values. */
  static void check(int available, int at, int count) {
    check(available, at, 1, 0, count);
  }

  /** Checks that a count has no remainder, which vector stores would overrun. */
  static void checkMultiple(String name, int count, int of) {
    if (count % of != 0) {
      throw new IllegalArgumentException(
          "%s is %d; expected a multiple of %d".formatted(name, count, of));
    }
  }

  static void check(long bytes, long offset, long count) {
    if (offset < 0 || count > bytes - offset) {
      throw new IndexOutOfBoundsException("%d bytes from %d of %d".formatted(count, offset, bytes));
    }
  }
}
