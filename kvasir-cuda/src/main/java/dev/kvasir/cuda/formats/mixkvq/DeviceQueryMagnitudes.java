package dev.kvasir.cuda.formats.mixkvq;

import dev.kvasir.codec.mixkvq.QuerySpan;
import dev.kvasir.cuda.formats.CacheResources;

/**
 * The query magnitudes of a sequence, summed on the device by {@link QueryMagnitudeKernels}. Each
 * channel has two sums. One is active; the other is zero and becomes active with the first query
 * after a quantization, as in {@code QueryMagnitudes} on the host.
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
  private boolean second; // whether the second sum is active
  private int tokens; // number of summed tokens
  private int firstPosition = Integer.MAX_VALUE;
  private boolean used; // by a quantization: the next query may start a new sum

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

  /** Counts a token whose query is about to be added. */
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

  /** Returns the address in the first layer. */
  long address() {
    return page;
  }

  int activeSum() {
    return second ? 1 : 0;
  }

  int tokens() {
    return tokens;
  }

  /** Marks the sums as used by a quantization. Later queries belong to the next window. */
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

  /** Drops the sums once all of their tokens are dropped; single tokens cannot be subtracted. */
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
