package dev.kvasir.cuda;

import dev.kvasir.memory.MemoryFullException;
import java.util.Arrays;

/**
 * The pages of one sequence, in the order of its tokens. Sinks have pages of halves of their own,
 * the last of them filled in part: all behind them is as it would be without, and a block begins
 * where a page does. Behind packed pages are those of halves, each with a page that is set aside
 * for it to be packed to: what was let in can always be packed.
 *
 * <pre>
 * position  0       sinks               sinks + 64 * packed           length
 *           | sinks | packed ... packed | halves ... halves, the last filling |
 * </pre>
 *
 * In tables packed pages come first, then sinks, then other halves.
 */
sealed class SequencePages permits ShrinkingPages {
  static final int TOKENS = HalfPage.TOKENS;

  /** Pages that are packed together: a page of the host. */
  static final int BLOCK_PAGES = 2;

  static final long[] NONE = {};

  final KindPages home;
  final int sinkTokens;
  long[] sinks = NONE;
  long[] packed = NONE;
  long[] halves = NONE;
  private final SequenceTables tables;
  private long[] ahead = NONE; // empty where nothing is packed
  long[] full; // null until it is asked for

  SequencePages(KindPages home) {
    this(home, home.kind().format().tables(home));
  }

  private SequencePages(KindPages home, SequenceTables tables) {
    this.home = home;
    this.tables = tables;
    this.sinkTokens = home.kind().sinks();
  }

  /** Tokens that are packed. */
  int packedTokens() {
    return TOKENS * packed.length;
  }

  /** Where tokens begin that are neither sinks nor packed. */
  int halvesFrom() {
    return sinkTokens + packedTokens();
  }

  int packedPages() {
    return packed.length;
  }

  /** Those of them that are codes. */
  int codedPages() {
    return packed.length;
  }

  /** Where one of them lies. */
  long packedPage(int page) {
    return packed[page];
  }

  /** Of what it has beside pages, as tables name them. */
  long[] tableEntries() {
    return tables.entries();
  }

  /** Of sinks and of others. */
  int halfPages() {
    return sinks.length + halves.length;
  }

  int sinkPages() {
    return sinks.length;
  }

  int pages() {
    return packed.length + halfPages();
  }

  /** Of what it has beside them. */
  int tablePages() {
    return tables.pages();
  }

  /** Pages that are set aside to pack to. */
  int pagesAhead() {
    return ahead.length;
  }

  /** Tokens that there are pages for. */
  int room() {
    return sinks.length < home.kind().sinkPages()
        ? TOKENS * sinks.length
        : halvesFrom() + TOKENS * halves.length;
  }

  /** The page of a position that is not packed and, in the lower bits, its place there. */
  long place(int position) {
    if (position < sinkTokens) {
      return sinks[position / TOKENS] | position % TOKENS;
    }
    int within = position - halvesFrom();
    return halves[within / TOKENS] | within % TOKENS;
  }

  /** Adds what a token attends to that has so many before it and itself. */
  void describe(PageTable table, int tokens) {
    tables.see(tokens - 1);
    int pages = pagesOf(tokens);
    table.addSequence(
        full(), packed.length, pages - packed.length, lastTokens(tokens), tables.entries());
  }

  /**
   * Adds all pages that rows of a prompt attend to, to those of no sequence of the table: codes
   * come first, then sinks, then other halves.
   *
   * @param from the position of the first row
   * @param to that behind the last one
   * @param expanded where codes become halves; null where they are read as they are
   * @return the entry of what it has beside pages
   */
  int list(PageTable table, int from, int to, ExpandedPages expanded) {
    for (int position = from; position < to; position++) {
      tables.see(position);
    }
    long[] all = expanded == null ? full() : inHalves(expanded);
    table.addEntries(all, pagesOf(to), lastTokens(to));
    return table.addTables(tables.entries());
  }

  long[] inHalves(ExpandedPages expanded) {
    long[] all = full().clone();
    for (int page = 0; page < packed.length; page++) {
      all[page] = expanded.add(0, packed[page]) | TOKENS - 1;
    }
    expanded.addBeside(tables.toUnpack(packed.length / BLOCK_PAGES));
    return all;
  }

  /** That hold any of so many tokens, of which those behind packed ones are some. */
  private int pagesOf(int tokens) {
    return tokens <= sinkTokens
        ? Math.ceilDiv(tokens, TOKENS)
        : packed.length + sinks.length + Math.ceilDiv(tokens - halvesFrom(), TOKENS);
  }

  /** In the last of those pages. */
  int lastTokens(int tokens) {
    boolean endsWithSinks = tokens <= sinkTokens || sinkTokens > 0 && tokens == halvesFrom();
    return (endsWithSinks ? Math.min(tokens, sinkTokens) - 1 : tokens - sinkTokens - 1) % TOKENS
        + 1;
  }

  /** All pages as entries of a table that are as full as they will be; made when they change. */
  private long[] full() {
    if (full == null) {
      full = Arrays.copyOf(packed, pages());
      System.arraycopy(halves, 0, full, packed.length + sinks.length, halves.length);
      for (int i = 0; i < full.length; i++) {
        full[i] |= TOKENS - 1;
      }
      System.arraycopy(sinkEntries(), 0, full, packed.length, sinks.length);
    }
    return full;
  }

  /** The last of them is filled in part. */
  long[] sinkEntries() {
    long[] entries = sinks.clone();
    for (int i = 0; i < entries.length; i++) {
      entries[i] |= Math.min(TOKENS, sinkTokens - i * TOKENS) - 1;
    }
    return entries;
  }

  /** Tokens that fit at the most. */
  int capacity() {
    return Integer.MAX_VALUE;
  }

  /**
   * Tokens of a step that fit.
   *
   * @param held whether packing waits
   */
  int stepOf(int length, int tokens, boolean held) {
    return tokens;
  }

  /** Of packed pages. */
  long packedBytes() {
    return packed.length * home.packed().bytesOfAll() + tables.besideBytes();
  }

  /**
   * Of codes alone.
   *
   * @param perPage in all layers
   */
  long codeBytes(long perPage) {
    return packed.length * perPage + tables.besideCodeBytes();
  }

  /**
   * Takes pages for positions up to {@code end}, and a page of its own for the first of them where
   * that is a fork's too; all or none of them.
   */
  void reserve(int length, int end, boolean held) {
    tables.reserve(Math.max(0, end - sinkTokens) / (BLOCK_PAGES * TOKENS));
    int missingSinks = Math.ceilDiv(Math.min(end, sinkTokens), TOKENS) - sinks.length;
    int missing = Math.ceilDiv(end - halvesFrom(), TOKENS) - halves.length;
    int newSinks = Math.max(0, missingSinks);
    int newHalves = Math.max(0, missing);
    boolean copies = end > length && length < room() && home.halves().isShared(page(length));
    if (newSinks + newHalves == 0 && !copies) {
      return;
    }
    long[] taken = take(newSinks + newHalves + (copies ? 1 : 0), newHalves);
    if (copies) {
      copyOrGiveBack(page(length), taken);
      replace(length, taken[taken.length - 1]);
    }
    full = null;
    sinks = joined(sinks, taken, 0, newSinks);
    halves = joined(halves, taken, newSinks, newHalves);
  }

  private long page(int position) {
    return place(position) & -TOKENS;
  }

  /** Holds another page in the place of one that a fork has too. */
  private void replace(int position, long own) {
    long shared = page(position);
    if (position < sinkTokens) {
      sinks[position / TOKENS] = own;
    } else {
      halves[(position - halvesFrom()) / TOKENS] = own;
    }
    home.halves().giveBack(shared);
  }

  static long[] joined(long[] known, long[] more, int from, int count) {
    long[] all = Arrays.copyOf(known, known.length + count);
    System.arraycopy(more, from, all, known.length, count);
    return all;
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
    if (home.setsAside() && aside > 0) {
      try {
        ahead = joined(ahead, home.packed().take(aside), 0, aside);
      } catch (RuntimeException | Error e) {
        giveBack(home.halves(), taken);
        throw e;
      }
    }
    return taken;
  }

  /** Lets pages be packed that nothing was learned from, to measure with. */
  void pretend() {
    tables.pretend(halvesFrom());
  }

  /**
   * Packs the first pages of halves behind the sinks, whole blocks. They stay as they are, until
   * they are to be packed again, where there is no memory for what they take elsewhere than in
   * pages.
   */
  void pack(int pages) {
    long[] from = Arrays.copyOf(halves, pages);
    long[] to = Arrays.copyOf(ahead, pages);
    long[] beside;
    try {
      beside = tables.toPack(halvesFrom(), from);
    } catch (DeviceRefusal | MemoryFullException _) {
      return;
    }
    home.move(() -> home.moves().pack(from, to, beside));
    turnOver(pages);
  }

  /** Holds the pages that were set aside in the place of the first pages of halves. */
  void turnOver(int pages) {
    long[] from = Arrays.copyOf(halves, pages);
    full = null;
    packed = joined(packed, ahead, 0, pages);
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
    if (tokens >= halvesFrom()) {
      keepHalves(Math.ceilDiv(tokens - halvesFrom(), TOKENS));
      keepTables(tokens);
      return tokens;
    }
    keepHalves(0);
    int behind = Math.max(0, tokens - sinkTokens);
    int kept = behind / (BLOCK_PAGES * TOKENS) * BLOCK_PAGES;
    int cut = Math.ceilDiv(behind - kept * TOKENS, TOKENS);
    long[] gone = Arrays.copyOfRange(packed, kept, packed.length);
    try {
      boolean unpacks = cut > 0 && unpack(Arrays.copyOf(gone, cut), kept);
      return cut == 0 || unpacks ? tokens : sinkTokens + kept * TOKENS;
    } finally {
      packed = Arrays.copyOf(packed, kept);
      giveBackPacked(gone, kept);
      keepSinks(Math.ceilDiv(Math.min(tokens, sinkTokens), TOKENS));
      keepTables(tokens);
    }
  }

  private void keepTables(int tokens) {
    tables.keep(tokens, Math.max(0, tokens - sinkTokens) / (BLOCK_PAGES * TOKENS));
  }

  /**
   * Whether there is memory for what is cut; a failure of the device leaves no pages behind.
   *
   * @param firstPage of those that are cut, among packed ones
   */
  boolean unpack(long[] from, int firstPage) {
    try {
      halves = take(from.length, from.length);
    } catch (DeviceRefusal | MemoryFullException _) {
      return false;
    }
    try {
      home.move(() -> moveUnpacked(from, firstPage));
      return true;
    } catch (RuntimeException | Error e) {
      keepHalves(0);
      throw e;
    }
  }

  void moveUnpacked(long[] from, int firstPage) {
    long[] beside = tables.toUnpack(Math.ceilDiv(from.length, BLOCK_PAGES));
    home.moves().unpack(halves, from, beside);
  }

  void giveBackPacked(long[] gone, int firstPage) {
    giveBack(home.packed(), gone);
  }

  private void keepSinks(int count) {
    long[] gone = Arrays.copyOfRange(sinks, count, sinks.length);
    sinks = Arrays.copyOf(sinks, count);
    giveBack(home.halves(), gone);
  }

  private void keepHalves(int count) {
    long[] gone = Arrays.copyOfRange(halves, count, halves.length);
    halves = Arrays.copyOf(halves, count);
    giveBack(home.halves(), gone);
    keepAhead(count);
  }

  private void keepAhead(int count) {
    if (home.setsAside()) {
      long[] unused = Arrays.copyOfRange(ahead, count, ahead.length);
      ahead = Arrays.copyOf(ahead, count);
      giveBack(home.packed(), unused);
    }
  }

  /** The same pages for another sequence, of those that hold any of so many tokens. */
  SequencePages fork(int tokens) {
    SequencePages fork = new SequencePages(home, tables.fork());
    try {
      shareWith(fork, tokens);
    } catch (RuntimeException | Error e) {
      fork.tables.keep(0, 0);
      throw e;
    }
    return fork;
  }

  void shareWith(SequencePages fork, int tokens) {
    int shared = Math.max(0, Math.ceilDiv(tokens - halvesFrom(), TOKENS));
    fork.ahead = home.setsAside() && shared > 0 ? home.packed().take(shared) : NONE;
    fork.sinks = Arrays.copyOf(sinks, Math.ceilDiv(Math.min(tokens, sinkTokens), TOKENS));
    fork.packed = packed.clone();
    fork.halves = Arrays.copyOf(halves, shared);
    share(home.halves(), fork.sinks);
    sharePacked();
    share(home.halves(), fork.halves);
  }

  void sharePacked() {
    share(home.packed(), packed);
  }

  private static void share(PagePool pool, long[] pages) {
    for (long page : pages) {
      pool.share(page);
    }
  }

  static void giveBack(PagePool pool, long[] pages) {
    for (long page : pages) {
      pool.giveBack(page);
    }
  }
}
