package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.DequantizedPages;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.memory.MemoryFullException;
import java.util.Arrays;

/**
 * The pages of one sequence, in token order. Attention sinks have fp16 pages of their own, the last
 * of them partially filled, so that every block starts at a page boundary. Packed pages follow,
 * then fp16 pages. Each fp16 page has a packed page reserved for it, so accepted tokens can always
 * be quantized.
 *
 * <pre>
 * position  0       sinks               sinks + 64 * packed           length
 *           | sinks | packed ... packed | fp16 ... fp16, the last filling |
 * </pre>
 *
 * In page tables, packed pages come first, then sinks, then other fp16 pages.
 */
sealed class SequencePages permits RequantizingPages {
  static final int TOKENS = Fp16Page.TOKENS;

  static final int BLOCK_PAGES = Fp16Page.BLOCK_PAGES;

  static final long[] NONE = {};

  final CacheResources resources;
  final int sinkTokens;
  long[] sinks = NONE;
  long[] packed = NONE;
  long[] fp16 = NONE;
  private final SequenceTables tables;
  private long[] reserved = NONE; // empty if nothing is quantized
  long[] fullEntries; // null until first needed

  SequencePages(CacheResources resources) {
    this(resources, resources.tableFactory().newTables(resources));
  }

  private SequencePages(CacheResources resources, SequenceTables tables) {
    this.resources = resources;
    this.tables = tables;
    this.sinkTokens = resources.cacheConfig().sinks();
  }

  int packedTokens() {
    return TOKENS * packed.length;
  }

  /** Returns the first position that is neither a sink nor quantized. */
  int fp16Start() {
    return sinkTokens + packedTokens();
  }

  int packedPages() {
    return packed.length;
  }

  /** Returns the groups of layers that have pages of their own. */
  int groups() {
    return 1;
  }

  /** Returns the number of packed pages that hold codes, in the group that has most of them. */
  int quantizedPages() {
    return quantizedPages(0);
  }

  /** Returns the number of a group's packed pages that hold codes. */
  int quantizedPages(int group) {
    return packed.length;
  }

  /** Returns the address of a packed page. */
  long packedPage(int page) {
    return packed[page];
  }

  /** Returns the entries of its table pages, as a {@link PageTable} stores them. */
  long[] tableEntries() {
    return tables.entries();
  }

  /** Returns the number of fp16 pages, including sinks. */
  int fp16Pages() {
    return sinks.length + fp16.length;
  }

  int sinkPages() {
    return sinks.length;
  }

  int pages() {
    return packed.length + fp16Pages();
  }

  int tablePages() {
    return tables.pages();
  }

  /** Returns the entries that a page table needs for the sequence. */
  int tableSize() {
    return groups() * pages() + tablePages();
  }

  /** Returns the number of packed pages reserved for quantization. */
  int reservedPages() {
    return reserved.length;
  }

  int allocatedTokens() {
    return sinks.length < resources.cacheConfig().sinkPages()
        ? TOKENS * sinks.length
        : fp16Start() + TOKENS * fp16.length;
  }

  /**
   * Returns the page address of a position that is not quantized, with its index in the page in the
   * lower bits.
   */
  long slot(int position) {
    if (position < sinkTokens) {
      return sinks[position / TOKENS] | position % TOKENS;
    }
    int within = position - fp16Start();
    return fp16[within / TOKENS] | within % TOKENS;
  }

  /** Passes the id of an appended token to the tables. */
  void observeToken(int position, int token) {
    tables.observeToken(position, token);
  }

  /** Adds the sequence to a table, as seen by the last of its first {@code tokens} tokens. */
  void addTo(PageTable table, int tokens) {
    tables.observeQuery(tokens - 1);
    int pages = pagesOf(tokens);
    table.addSequence(
        fullEntries(),
        packed.length,
        pages - packed.length,
        lastTokens(0, tokens),
        tables.entries());
  }

  /**
   * Adds all pages that a prompt chunk attends to, outside the table's sequences. Codes come first,
   * then sinks, then other fp16 pages.
   *
   * @param from position of the first row
   * @param to position after the last row
   * @param dequantized where codes are dequantized; null if they are read as they are
   * @return the index of the first table entry
   */
  int addChunkTo(PageTable table, int from, int to, DequantizedPages dequantized) {
    for (int position = from; position < to; position++) {
      tables.observeQuery(position);
    }
    addGroupTo(table, 0, to, dequantized);
    return table.addTables(tables.entries());
  }

  /** Adds the pages of one group of layers. */
  void addGroupTo(PageTable table, int group, int to, DequantizedPages dequantized) {
    long[] all = dequantized == null ? fullEntries() : dequantizedEntries(group, dequantized);
    table.addEntries(all, pagesOf(to), lastTokens(group, to));
  }

  long[] dequantizedEntries(int group, DequantizedPages dequantized) {
    long[] all = fullEntries().clone();
    for (int page = 0; page < packed.length; page++) {
      all[page] = dequantized.add(group, 0, packed[page]) | TOKENS - 1;
    }
    dequantized.addMetadata(tables.dequantizationMetadata(0, packed.length / BLOCK_PAGES));
    return all;
  }

  /** Returns the number of pages that hold the first tokens; these include all packed ones. */
  private int pagesOf(int tokens) {
    return tokens <= sinkTokens
        ? Math.ceilDiv(tokens, TOKENS)
        : packed.length + sinks.length + Math.ceilDiv(tokens - fp16Start(), TOKENS);
  }

  /** Returns the number of tokens in the last of those pages. */
  int lastTokens(int group, int tokens) {
    boolean endsWithSinks = tokens <= sinkTokens || sinkTokens > 0 && tokens == fp16Start();
    return (endsWithSinks ? Math.min(tokens, sinkTokens) - 1 : tokens - sinkTokens - 1) % TOKENS
        + 1;
  }

  /**
   * Returns table entries of all pages, each as full as it can be. The entries are cached until
   * pages change.
   */
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

  /** Returns table entries of the sinks; the last page may be partially filled. */
  long[] sinkEntries() {
    long[] entries = sinks.clone();
    for (int i = 0; i < entries.length; i++) {
      entries[i] |= Math.min(TOKENS, sinkTokens - i * TOKENS) - 1;
    }
    return entries;
  }

  /** Returns the maximum number of tokens. */
  int capacity() {
    return Integer.MAX_VALUE;
  }

  /**
   * Returns how many tokens of a step fit.
   *
   * @param deferred whether quantization is deferred
   */
  int maxStep(int length, int tokens, boolean deferred) {
    return tokens;
  }

  /** Returns the bytes of packed pages and their extra memory. */
  long packedBytes() {
    return packed.length * resources.packedPool().totalPageBytes() + tables.extraBytes();
  }

  /**
   * Returns the bytes of codes alone.
   *
   * @param perPage code bytes of a page in all layers
   */
  long codeBytes(long perPage) {
    return packed.length * perPage + tables.extraCodeBytes();
  }

  /**
   * Allocates pages for positions up to {@code end}. If a fork shares the page of the first new
   * position, that page is copied. Allocates everything or nothing.
   */
  void reserve(int length, int end, boolean deferred) {
    tables.reserve(Math.max(0, end - sinkTokens) / (BLOCK_PAGES * TOKENS));
    int missingSinks = Math.ceilDiv(Math.min(end, sinkTokens), TOKENS) - sinks.length;
    int missing = Math.ceilDiv(end - fp16Start(), TOKENS) - fp16.length;
    int newSinks = Math.max(0, missingSinks);
    int newFp16 = Math.max(0, missing);
    boolean copies =
        end > length && length < allocatedTokens() && resources.fp16Pool().isShared(page(length));
    if (newSinks + newFp16 == 0 && !copies) {
      return;
    }
    long[] allocated = allocate(newSinks + newFp16 + (copies ? 1 : 0), newFp16);
    if (copies) {
      copyOrRelease(page(length), allocated);
      replace(length, allocated[allocated.length - 1]);
    }
    fullEntries = null;
    sinks = concat(sinks, allocated, 0, newSinks);
    fp16 = concat(fp16, allocated, newSinks, newFp16);
  }

  /**
   * Allocates the pages of a stored sequence, which is empty so far: everything or nothing.
   *
   * @param length tokens, packed ones included
   * @param packedCount packed pages
   */
  void allocateFor(int length, int packedCount) {
    packed = packedCount == 0 ? NONE : resources.packedPool().allocate(packedCount);
    try {
      reserve(length, length, false);
    } catch (RuntimeException | Error e) {
      release(resources.packedPool(), packed);
      packed = NONE;
      throw e;
    }
    fullEntries = null;
  }

  private long page(int position) {
    return slot(position) & -TOKENS;
  }

  /** Replaces a page shared with a fork by its own copy. */
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

  /** Copies a page to the last allocated one; releases all of them on failure. */
  private void copyOrRelease(long shared, long[] allocated) {
    try {
      resources.submit(() -> resources.operations().copy(shared, allocated[allocated.length - 1]));
    } catch (RuntimeException | Error e) {
      release(resources.fp16Pool(), allocated);
      truncateReserved(fp16.length);
      throw e;
    }
  }

  /** Allocates fp16 pages and reserves packed pages for {@code reservedCount} of them. */
  private long[] allocate(int count, int reservedCount) {
    long[] allocated = resources.fp16Pool().allocate(count);
    if (resources.reservesPacked() && reservedCount > 0) {
      try {
        reserved =
            concat(reserved, resources.packedPool().allocate(reservedCount), 0, reservedCount);
      } catch (RuntimeException | Error e) {
        release(resources.fp16Pool(), allocated);
        throw e;
      }
    }
    return allocated;
  }

  /** Uses dummy tables for quantization, for benchmarks. */
  void useDummyTables() {
    tables.useDummy(fp16Start());
  }

  /**
   * Quantizes the first fp16 pages after the sinks, in whole blocks. If memory for extra data is
   * missing, the pages stay fp16 until the next attempt.
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

  /** Replaces the first fp16 pages by their reserved packed pages. */
  void replaceByPacked(int pages) {
    long[] from = Arrays.copyOf(fp16, pages);
    fullEntries = null;
    packed = concat(packed, reserved, 0, pages);
    fp16 = Arrays.copyOfRange(fp16, pages, fp16.length);
    reserved = Arrays.copyOfRange(reserved, pages, reserved.length);
    release(resources.fp16Pool(), from);
  }

  /**
   * Drops all tokens after the first {@code tokens} and returns how many remain. A partially
   * dropped block becomes fp16 again, or is dropped if memory is missing.
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
      boolean unpacks =
          cut > 0 && dequantize(Arrays.copyOf(dropped, dequantizedPages(cut)), retained);
      truncateFp16(Math.min(cut, fp16.length));
      return cut == 0 || unpacks ? tokens : sinkTokens + retained * TOKENS;
    } finally {
      packed = Arrays.copyOf(packed, retained);
      releasePacked(dropped, retained);
      truncateSinks(Math.ceilDiv(Math.min(tokens, sinkTokens), TOKENS));
      truncateTables(tokens);
    }
  }

  /** Returns how many pages must be dequantized for the first pages of a block. */
  private int dequantizedPages(int pages) {
    return resources.cacheConfig().format().quantizesBlocks() ? BLOCK_PAGES : pages;
  }

  private void truncateTables(int tokens) {
    tables.truncate(tokens, Math.max(0, tokens - sinkTokens) / (BLOCK_PAGES * TOKENS));
  }

  /**
   * Dequantizes a partially dropped block. Returns false if memory is missing; a device failure
   * leaves no pages allocated.
   *
   * @param firstPage index of the first page among packed ones
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
    long[] metadata =
        tables.dequantizationMetadata(
            firstPage / BLOCK_PAGES, Math.ceilDiv(from.length, BLOCK_PAGES));
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

  /** Returns a sequence that shares the pages of the first {@code tokens} tokens. */
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
