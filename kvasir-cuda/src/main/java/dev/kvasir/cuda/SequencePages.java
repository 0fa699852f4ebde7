package dev.kvasir.cuda;

import dev.kvasir.memory.MemoryFullException;
import java.util.Arrays;

/**
 * The pages of one sequence, in the order of its tokens. Behind packed ones are those of halves,
 * each with a page that is set aside for it to be packed to: what was let in can always be packed.
 *
 * <pre>
 * position  0            64 * packed                     length
 *           | packed ... packed | halves ... halves, the last filling |
 * </pre>
 */
final class SequencePages {
  static final int TOKENS = HalfPage.TOKENS;

  /** Pages that are packed together: a page of the host. */
  static final int BLOCK_PAGES = 2;

  private final KindPages home;
  private long[] packed = {};
  private long[] halves = {};
  private long[] ahead = {}; // empty where nothing is packed
  private long[] full; // null until it is asked for

  SequencePages(KindPages home) {
    this.home = home;
  }

  private SequencePages(KindPages home, long[] packed, long[] halves, long[] ahead) {
    this.home = home;
    this.packed = packed;
    this.halves = halves;
    this.ahead = ahead;
  }

  /** Tokens that are packed. */
  int packedTokens() {
    return TOKENS * packed.length;
  }

  int packedPages() {
    return packed.length;
  }

  int halfPages() {
    return halves.length;
  }

  /** Tokens that there are pages for. */
  int room() {
    return TOKENS * (packed.length + halves.length);
  }

  /** The page of a position that is not packed and, in the lower bits, its place there. */
  long place(int position) {
    int within = position - packedTokens();
    return halves[within / TOKENS] | within % TOKENS;
  }

  /** Adds what a token attends to that has so many before it and itself. */
  void describe(PageTable table, int tokens) {
    int unpacked = tokens - packedTokens();
    table.addSequence(full(), packed.length, Math.ceilDiv(unpacked, TOKENS), lastTokens(tokens));
  }

  /** Adds all pages that hold any of so many tokens, to those of no sequence of the table. */
  void list(PageTable table, int tokens) {
    table.addEntries(full(), Math.ceilDiv(tokens, TOKENS), lastTokens(tokens));
  }

  private static int lastTokens(int tokens) {
    return (tokens - 1) % TOKENS + 1;
  }

  /** All pages as entries of a table that are full; made when they have changed. */
  private long[] full() {
    if (full == null) {
      full = new long[packed.length + halves.length];
      for (int i = 0; i < full.length; i++) {
        full[i] = (i < packed.length ? packed[i] : halves[i - packed.length]) | TOKENS - 1;
      }
    }
    return full;
  }

  /**
   * Takes pages for positions up to {@code end}, and a page of its own for the first of them where
   * that is a fork's too; all or none.
   */
  void reserve(int length, int end) {
    int missing = Math.max(0, Math.ceilDiv(end - packedTokens(), TOKENS) - halves.length);
    int next = (length - packedTokens()) / TOKENS;
    boolean copies = end > length && next < halves.length && home.halves().isShared(halves[next]);
    if (missing == 0 && !copies) {
      return;
    }
    long[] taken = take(missing + (copies ? 1 : 0), missing);
    if (copies) {
      copyOrGiveBack(halves[next], taken);
    }
    full = null;
    int known = halves.length;
    halves = Arrays.copyOf(halves, known + missing);
    System.arraycopy(taken, 0, halves, known, missing);
    if (copies) {
      long shared = halves[next];
      halves[next] = taken[missing];
      home.halves().giveBack(shared);
    }
  }

  /** Copies a page to the last of those that were taken, which all go back where that fails. */
  private void copyOrGiveBack(long shared, long[] taken) {
    try {
      home.move(() -> home.moves().copy(shared, taken[taken.length - 1]));
    } catch (RuntimeException | Error e) {
      giveBack(home.halves(), taken);
      keepAhead(halves.length);
      throw e;
    }
  }

  /** Takes pages of halves, and sets others aside behind those that are. */
  private long[] take(int count, int aside) {
    long[] taken = home.halves().take(count);
    if (home.packs() && aside > 0) {
      try {
        long[] more = home.packed().take(aside);
        int known = ahead.length;
        ahead = Arrays.copyOf(ahead, known + aside);
        System.arraycopy(more, 0, ahead, known, aside);
      } catch (RuntimeException | Error e) {
        giveBack(home.halves(), taken);
        throw e;
      }
    }
    return taken;
  }

  /** Packs the first pages of halves, whole blocks. */
  void pack(int pages) {
    long[] from = Arrays.copyOf(halves, pages);
    long[] to = Arrays.copyOf(ahead, pages);
    home.move(() -> home.moves().pack(from, to));
    full = null;
    int known = packed.length;
    packed = Arrays.copyOf(packed, known + pages);
    System.arraycopy(to, 0, packed, known, pages);
    halves = Arrays.copyOfRange(halves, pages, halves.length);
    ahead = Arrays.copyOfRange(ahead, pages, ahead.length);
    giveBack(home.halves(), from);
  }

  /**
   * Forgets what lies behind so many tokens; answers how many are left. A block that is cut becomes
   * halves again, or is forgotten where there is no memory for them.
   */
  int keep(int tokens) {
    full = null;
    if (tokens >= packedTokens()) {
      keepHalves(Math.ceilDiv(tokens - packedTokens(), TOKENS));
      return tokens;
    }
    keepHalves(0);
    int blockTokens = BLOCK_PAGES * TOKENS;
    int kept = tokens / blockTokens * BLOCK_PAGES;
    int cut = Math.ceilDiv(tokens - kept * TOKENS, TOKENS);
    long[] gone = Arrays.copyOfRange(packed, kept, packed.length);
    boolean unpacks = cut > 0 && unpack(Arrays.copyOf(gone, cut));
    packed = Arrays.copyOf(packed, kept);
    giveBack(home.packed(), gone);
    return unpacks ? tokens : kept * TOKENS;
  }

  private boolean unpack(long[] from) {
    try {
      halves = take(from.length, from.length);
    } catch (DeviceRefusal | MemoryFullException _) {
      return false;
    }
    home.move(() -> home.moves().unpack(halves, from));
    return true;
  }

  private void keepHalves(int count) {
    long[] gone = Arrays.copyOfRange(halves, count, halves.length);
    halves = Arrays.copyOf(halves, count);
    giveBack(home.halves(), gone);
    keepAhead(count);
  }

  private void keepAhead(int count) {
    if (home.packs()) {
      long[] unused = Arrays.copyOfRange(ahead, count, ahead.length);
      ahead = Arrays.copyOf(ahead, count);
      giveBack(home.packed(), unused);
    }
  }

  /** The same pages for another sequence, of those that hold any of so many tokens. */
  SequencePages fork(int tokens) {
    int shared = Math.ceilDiv(tokens - packedTokens(), TOKENS);
    long[] aside = home.packs() && shared > 0 ? home.packed().take(shared) : new long[0];
    for (long page : packed) {
      home.packed().share(page);
    }
    for (int page = 0; page < shared; page++) {
      home.halves().share(halves[page]);
    }
    return new SequencePages(home, packed.clone(), Arrays.copyOf(halves, shared), aside);
  }

  private static void giveBack(PagePool pool, long[] pages) {
    for (long page : pages) {
      pool.giveBack(page);
    }
  }
}
