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
sealed class SequencePages permits RequantizingPages {
  static final int TOKENS = Fp16Page.TOKENS;

  /** Pages that are packed together: a page of the host. */
  static final int BLOCK_PAGES = 2;

  static final long[] NONE = {};

  final CacheResources resources;
  final int sinkTokens;
  long[] sinks = NONE;
  long[] packed = NONE;
  long[] fp16 = NONE;
  private final SequenceTables tables;
  private long[] reserved = NONE; // empty where nothing is packed
  long[] fullEntries; // null until it is asked for

  SequencePages(CacheResources resources) {
    this(resources, resources.cacheConfig().format().newTables(resources));
  }

  private SequencePages(CacheResources resources, SequenceTables tables) {
    this.resources = resources;
    this.tables = tables;
    this.sinkTokens = resources.cacheConfig().sinks();
  }

  /** Tokens that are packed. */
  int packedTokens() {
    return TOKENS * packed.length;
  }

  /** Where tokens begin that are neither sinks nor packed. */
  int fp16Start() {
    return sinkTokens + packedTokens();
  }

  int packedPages() {
    return packed.length;
  }

  /** Those of them that are codes. */
  int quantizedPages() {
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
  int fp16Pages() {
    return sinks.length + fp16.length;
  }

  int sinkPages() {
    return sinks.length;
  }

  int pages() {
    return packed.length + fp16Pages();
  }

  /** Of what it has beside them. */
  int tablePages() {
    return tables.pages();
  }

  /** Pages that are set aside to pack to. */
  int reservedPages() {
    return reserved.length;
  }

  /** Tokens that there are pages for. */
  int allocatedTokens() {
    return sinks.length < resources.cacheConfig().sinkPages()
        ? TOKENS * sinks.length
        : fp16Start() + TOKENS * fp16.length;
  }

  /** The page of a position that is not packed and, in the lower bits, its place there. */
  long slot(int position) {
    if (position < sinkTokens) {
      return sinks[position / TOKENS] | position % TOKENS;
    }
    int within = position - fp16Start();
    return fp16[within / TOKENS] | within % TOKENS;
  }

  /** Adds what a token attends to that has so many before it and itself. */
  void addTo(PageTable table, int tokens) {
    tables.observeQuery(tokens - 1);
    int pages = pagesOf(tokens);
    table.addSequence(
        fullEntries(), packed.length, pages - packed.length, lastTokens(tokens), tables.entries());
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
  int addChunkTo(PageTable table, int from, int to, DequantizedPages dequantized) {
    for (int position = from; position < to; position++) {
      tables.observeQuery(position);
    }
    long[] all = dequantized == null ? fullEntries() : dequantizedEntries(dequantized);
    table.addEntries(all, pagesOf(to), lastTokens(to));
    return table.addTables(tables.entries());
  }

  long[] dequantizedEntries(DequantizedPages dequantized) {
    long[] all = fullEntries().clone();
    for (int page = 0; page < packed.length; page++) {
      all[page] = dequantized.add(0, packed[page]) | TOKENS - 1;
    }
    dequantized.addMetadata(tables.dequantizationMetadata(packed.length / BLOCK_PAGES));
    return all;
  }

  /** That hold any of so many tokens, of which those behind packed ones are some. */
  private int pagesOf(int tokens) {
    return tokens <= sinkTokens
        ? Math.ceilDiv(tokens, TOKENS)
        : packed.length + sinks.length + Math.ceilDiv(tokens - fp16Start(), TOKENS);
  }

  /** In the last of those pages. */
  int lastTokens(int tokens) {
    boolean endsWithSinks = tokens <= sinkTokens || sinkTokens > 0 && tokens == fp16Start();
    return (endsWithSinks ? Math.min(tokens, sinkTokens) - 1 : tokens - sinkTokens - 1) % TOKENS
        + 1;
  }

  /** All pages as entries of a table that are as full as they will be; made when they change. */
  private long[] fullEntries() {
    if (fullEntries == null) {
      fullEntries = Arrays.copyOf(packed, pages());
      System.arraycopy(fp16, 0, fullEntries, packed.length + sinks.length, fp16.length);
      for (int i = 0; i < fullEntries.length; i++) {
        fullEntries[i] |= TOKENS - 1;
      }
      System.arraycopy(sinkEntries(), 0, fullEntries, packed.length, sinks.length);
    }
    return fullEntries;
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
  int maxStep(int length, int tokens, boolean deferred) {
    return tokens;
  }

  /** Of packed pages. */
  long packedBytes() {
    return packed.length * resources.packedPool().totalPageBytes() + tables.extraBytes();
  }

  /**
   * Of codes alone.
   *
   * @param perPage in all layers
   */
  long codeBytes(long perPage) {
    return packed.length * perPage + tables.extraCodeBytes();
  }

  /**
   * Takes pages for positions up to {@code end}, and a page of its own for the first of them where
   * that is a fork's too; all or none of them.
   */
  void reserve(int length, int end, boolean deferred) {
    tables.reserve(Math.max(0, end - sinkTokens) / (BLOCK_PAGES * TOKENS));
    int missingSinks = Math.ceilDiv(Math.min(end, sinkTokens), TOKENS) - sinks.length;
    int missing = Math.ceilDiv(end - fp16Start(), TOKENS) - fp16.length;
    int newSinks = Math.max(0, missingSinks);
    int newHalves = Math.max(0, missing);
    boolean copies =
        end > length && length < allocatedTokens() && resources.fp16Pool().isShared(page(length));
    if (newSinks + newHalves == 0 && !copies) {
      return;
    }
    long[] allocated = allocate(newSinks + newHalves + (copies ? 1 : 0), newHalves);
    if (copies) {
      copyOrRelease(page(length), allocated);
      replace(length, allocated[allocated.length - 1]);
    }
    fullEntries = null;
    sinks = concat(sinks, allocated, 0, newSinks);
    fp16 = concat(fp16, allocated, newSinks, newHalves);
  }

  private long page(int position) {
    return slot(position) & -TOKENS;
  }

  /** Holds another page in the place of one that a fork has too. */
  private void replace(int position, long own) {
    long shared = page(position);
    if (position < sinkTokens) {
      sinks[position / TOKENS] = own;
    } else {
      fp16[(position - fp16Start()) / TOKENS] = own;
    }
    resources.fp16Pool().release(shared);
  }

  static long[] concat(long[] known, long[] more, int from, int count) {
    long[] all = Arrays.copyOf(known, known.length + count);
    System.arraycopy(more, from, all, known.length, count);
    return all;
  }

  /** Copies a page to the last of those that were taken, which all go back where that fails. */
  private void copyOrRelease(long shared, long[] allocated) {
    try {
      resources.submit(() -> resources.operations().copy(shared, allocated[allocated.length - 1]));
    } catch (RuntimeException | Error e) {
      release(resources.fp16Pool(), allocated);
      truncateReserved(fp16.length);
      throw e;
    }
  }

  /** Takes pages of halves, and sets others aside behind those that are. */
  private long[] allocate(int count, int aside) {
    long[] allocated = resources.fp16Pool().allocate(count);
    if (resources.reservesPacked() && aside > 0) {
      try {
        reserved = concat(reserved, resources.packedPool().allocate(aside), 0, aside);
      } catch (RuntimeException | Error e) {
        release(resources.fp16Pool(), allocated);
        throw e;
      }
    }
    return allocated;
  }

  /** Lets pages be packed that nothing was learned from, to measure with. */
  void useDummyTables() {
    tables.useDummy(fp16Start());
  }

  /**
   * Packs the first pages of halves behind the sinks, whole blocks. They stay as they are, until
   * they are to be packed again, where there is no memory for what they take elsewhere than in
   * pages.
   */
  void quantize(int pages) {
    long[] from = Arrays.copyOf(fp16, pages);
    long[] to = Arrays.copyOf(reserved, pages);
    long[] metadata;
    try {
      metadata = tables.quantizationMetadata(fp16Start(), from);
    } catch (DeviceException | MemoryFullException _) {
      return;
    }
    resources.submit(() -> resources.operations().quantize(from, to, metadata));
    replaceByPacked(pages);
  }

  /** Holds the pages that were set aside in the place of the first pages of halves. */
  void replaceByPacked(int pages) {
    long[] from = Arrays.copyOf(fp16, pages);
    fullEntries = null;
    packed = concat(packed, reserved, 0, pages);
    fp16 = Arrays.copyOfRange(fp16, pages, fp16.length);
    reserved = Arrays.copyOfRange(reserved, pages, reserved.length);
    release(resources.fp16Pool(), from);
  }

  /**
   * Forgets what lies behind so many tokens; answers how many are left. A block that is cut becomes
   * halves again, or is forgotten where there is no memory for them.
   */
  int truncate(int tokens) {
    fullEntries = null;
    if (tokens >= fp16Start()) {
      truncateFp16(Math.ceilDiv(tokens - fp16Start(), TOKENS));
      truncateTables(tokens);
      return tokens;
    }
    truncateFp16(0);
    int behind = Math.max(0, tokens - sinkTokens);
    int retained = behind / (BLOCK_PAGES * TOKENS) * BLOCK_PAGES;
    int cut = Math.ceilDiv(behind - retained * TOKENS, TOKENS);
    long[] dropped = Arrays.copyOfRange(packed, retained, packed.length);
    try {
      boolean unpacks = cut > 0 && dequantize(Arrays.copyOf(dropped, cut), retained);
      return cut == 0 || unpacks ? tokens : sinkTokens + retained * TOKENS;
    } finally {
      packed = Arrays.copyOf(packed, retained);
      releasePacked(dropped, retained);
      truncateSinks(Math.ceilDiv(Math.min(tokens, sinkTokens), TOKENS));
      truncateTables(tokens);
    }
  }

  private void truncateTables(int tokens) {
    tables.truncate(tokens, Math.max(0, tokens - sinkTokens) / (BLOCK_PAGES * TOKENS));
  }

  /**
   * Whether there is memory for what is cut; a failure of the device leaves no pages behind.
   *
   * @param firstPage of those that are cut, among packed ones
   */
  boolean dequantize(long[] from, int firstPage) {
    try {
      fp16 = allocate(from.length, from.length);
    } catch (DeviceException | MemoryFullException _) {
      return false;
    }
    try {
      resources.submit(() -> launchDequantize(from, firstPage));
      return true;
    } catch (RuntimeException | Error e) {
      truncateFp16(0);
      throw e;
    }
  }

  void launchDequantize(long[] from, int firstPage) {
    long[] metadata = tables.dequantizationMetadata(Math.ceilDiv(from.length, BLOCK_PAGES));
    resources.operations().dequantize(fp16, from, metadata);
  }

  void releasePacked(long[] dropped, int firstPage) {
    release(resources.packedPool(), dropped);
  }

  private void truncateSinks(int count) {
    long[] dropped = Arrays.copyOfRange(sinks, count, sinks.length);
    sinks = Arrays.copyOf(sinks, count);
    release(resources.fp16Pool(), dropped);
  }

  private void truncateFp16(int count) {
    long[] dropped = Arrays.copyOfRange(fp16, count, fp16.length);
    fp16 = Arrays.copyOf(fp16, count);
    release(resources.fp16Pool(), dropped);
    truncateReserved(count);
  }

  private void truncateReserved(int count) {
    if (resources.reservesPacked()) {
      long[] unused = Arrays.copyOfRange(reserved, count, reserved.length);
      reserved = Arrays.copyOf(reserved, count);
      release(resources.packedPool(), unused);
    }
  }

  /** The same pages for another sequence, of those that hold any of so many tokens. */
  SequencePages fork(int tokens) {
    SequencePages fork = new SequencePages(resources, tables.fork());
    try {
      shareWith(fork, tokens);
    } catch (RuntimeException | Error e) {
      fork.tables.truncate(0, 0);
      throw e;
    }
    return fork;
  }

  void shareWith(SequencePages fork, int tokens) {
    int shared = Math.max(0, Math.ceilDiv(tokens - fp16Start(), TOKENS));
    fork.reserved =
        resources.reservesPacked() && shared > 0 ? resources.packedPool().allocate(shared) : NONE;
    fork.sinks = Arrays.copyOf(sinks, Math.ceilDiv(Math.min(tokens, sinkTokens), TOKENS));
    fork.packed = packed.clone();
    fork.fp16 = Arrays.copyOf(fp16, shared);
    retain(resources.fp16Pool(), fork.sinks);
    retainPacked();
    retain(resources.fp16Pool(), fork.fp16);
  }

  void retainPacked() {
    retain(resources.packedPool(), packed);
  }

  private static void retain(PagePool pool, long[] pages) {
    for (long page : pages) {
      pool.retain(page);
    }
  }

  static void release(PagePool pool, long[] pages) {
    for (long page : pages) {
      pool.release(page);
    }
  }
}
