package dev.kvasir.natives;

import dev.kvasir.kernel.RowBlock;

/**
 * A native function writes where it is told to. What Java checks at every access is checked here
 * once a call, so that a mistake is an exception and not a damaged heap.
 */
final class Bounds {
  private Bounds() {}

  /** Whether so many are there as are going to be used. */
  static void check(int there, int used) {
    if (used > there) {
      throw new IndexOutOfBoundsException("%d of %d".formatted(used, there));
    }
  }

  /** Rows of some length that begin a stride apart. */
  static void check(int there, int at, int rows, int stride, int length) {
    if (rows > 0 && length > 0) {
      long last = at + (long) (rows - 1) * stride;
      if (at < 0 || stride < 0 || last + length > there) {
        throw new IndexOutOfBoundsException("%d of %d".formatted(last + length, there));
      }
    }
  }

  /** All rows of a block. */
  static void check(RowBlock block) {
    check(block.values().length, block.at(), block.rows(), block.stride(), block.width());
  }

  /** A run of values. */
  static void check(int there, int at, int count) {
    check(there, at, 1, 0, count);
  }

  /** What vectors go through has no rest: they would write past its end. */
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
