package dev.kvasir.cuda;

import dev.kvasir.codec.mixkvq.QuerySpan;

/**
 * What a sequence's queries look at, summed on the device by {@link QueryMagnitudeKernels}. There
 * are two sums for each channel: one counts, and the other is zero and counts from the first query
 * on that comes after packing, as {@code QueryMagnitudes} has it.
 *
 * <pre>
 * page  (kvHeads, 2, headDim) u64, in units of 2^-20
 * </pre>
 */
final class DeviceQueryMagnitudes {
  private static final long NONE = 0;

  private final CacheResources resources;
  private final QuerySpan span;
  private long page = NONE;
  private boolean second; // whether the second sum is the one that counts
  private int tokens; // that have been counted
  private int firstPosition = Integer.MAX_VALUE;
  private boolean used; // by what was packed: the next query may begin anew

  DeviceQueryMagnitudes(CacheResources resources, QuerySpan span) {
    this.resources = resources;
    this.span = span;
  }

  int pages() {
    return page == NONE ? 0 : 1;
  }

  void reserve() {
    if (page == NONE) {
      long allocated = resources.tablePool().allocate(1)[0];
      try {
        clear(allocated);
      } catch (RuntimeException | Error e) {
        resources.tablePool().release(allocated);
        throw e;
      }
      page = allocated;
    }
  }

  private void clear(long allocated) {
    resources.submit(() -> resources.operations().clearTable(allocated));
  }

  /** The query of a token is about to be added. */
  void observeQuery(int position) {
    if (used && span == QuerySpan.WINDOW) {
      second = !second;
      reset();
    }
    used = false;
    tokens++;
    firstPosition = Math.min(firstPosition, position);
  }

  private void reset() {
    tokens = 0;
    firstPosition = Integer.MAX_VALUE;
    used = false;
  }

  /** Of the first layer. */
  long address() {
    return page;
  }

  /** Which of two sums counts. */
  int activeSum() {
    return second ? 1 : 0;
  }

  int tokens() {
    return tokens;
  }

  /** A block is packed by what was seen; the queries after it are the next window's. */
  void markUsed() {
    used = true;
  }

  DeviceQueryMagnitudes fork() {
    DeviceQueryMagnitudes fork = new DeviceQueryMagnitudes(resources, span);
    if (page != NONE) {
      long copy = resources.tablePool().allocate(1)[0];
      try {
        resources.submit(() -> resources.operations().copyTable(page, copy));
      } catch (RuntimeException | Error e) {
        resources.tablePool().release(copy);
        throw e;
      }
      fork.page = copy;
    }
    fork.second = second;
    fork.tokens = tokens;
    fork.firstPosition = firstPosition;
    fork.used = used;
    return fork;
  }

  /** Sums cannot be taken apart: they go once all of their tokens have gone. */
  void truncate(int length) {
    if (length == 0) {
      reset();
      release();
    } else if (tokens > 0 && length <= firstPosition) {
      reset();
      clear(page);
    }
  }

  private void release() {
    if (page != NONE) {
      resources.tablePool().release(page);
      page = NONE;
    }
  }
}
