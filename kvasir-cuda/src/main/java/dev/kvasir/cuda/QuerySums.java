package dev.kvasir.cuda;

import dev.kvasir.codec.mixkvq.QuerySpan;

/**
 * What a sequence's queries look at, summed on the device by {@link QueryAid}. There are two sums
 * for each channel: one counts, and the other is zero and counts from the first query on that comes
 * after packing, as {@code QueryTally} has it.
 *
 * <pre>
 * page  (kvHeads, 2, headDim) u64, in units of 2^-20
 * </pre>
 */
final class QuerySums {
  private static final long NONE = 0;

  private final KindPages home;
  private final QuerySpan span;
  private long page = NONE;
  private boolean second; // whether the second sum is the one that counts
  private int tokens; // that have been counted
  private int firstPosition = Integer.MAX_VALUE;
  private boolean used; // by what was packed: the next query may begin anew

  QuerySums(KindPages home, QuerySpan span) {
    this.home = home;
    this.span = span;
  }

  int pages() {
    return page == NONE ? 0 : 1;
  }

  void reserve() {
    if (page == NONE) {
      long taken = home.tables().take(1)[0];
      try {
        clear(taken);
      } catch (RuntimeException | Error e) {
        home.tables().giveBack(taken);
        throw e;
      }
      page = taken;
    }
  }

  private void clear(long taken) {
    home.move(() -> home.moves().clearTable(taken));
  }

  /** The query of a token is about to be added. */
  void see(int position) {
    if (used && span == QuerySpan.WINDOW) {
      second = !second;
      forget();
    }
    used = false;
    tokens++;
    firstPosition = Math.min(firstPosition, position);
  }

  private void forget() {
    tokens = 0;
    firstPosition = Integer.MAX_VALUE;
    used = false;
  }

  /** Of the first layer. */
  long address() {
    return page;
  }

  /** Which of two sums counts. */
  int which() {
    return second ? 1 : 0;
  }

  int tokens() {
    return tokens;
  }

  /** A block is packed by what was seen; the queries after it are the next window's. */
  void use() {
    used = true;
  }

  QuerySums fork() {
    QuerySums fork = new QuerySums(home, span);
    if (page != NONE) {
      long copy = home.tables().take(1)[0];
      try {
        home.move(() -> home.moves().copyTable(page, copy));
      } catch (RuntimeException | Error e) {
        home.tables().giveBack(copy);
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
  void keep(int length) {
    if (length == 0) {
      forget();
      giveBack();
    } else if (tokens > 0 && length <= firstPosition) {
      forget();
      clear(page);
    }
  }

  private void giveBack() {
    if (page != NONE) {
      home.tables().giveBack(page);
      page = NONE;
    }
  }
}
