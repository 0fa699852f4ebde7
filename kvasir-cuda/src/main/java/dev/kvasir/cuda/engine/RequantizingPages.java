package dev.kvasir.cuda.engine;

import dev.kvasir.cache.PageWidths;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.PageLevels;
import dev.kvasir.cuda.memory.DequantizedPages;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.memory.MemoryFullException;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Pages of a sequence that are requantized under its budget, like those on the host. {@link
 * PageWidths} decides the widths; this class applies them. A block of 16 bits stays in its fp16
 * pages.
 *
 * <p>Order in page tables: 8-bit pages, sinks, 16-bit blocks, other fp16 pages, then 4-bit and
 * 2-bit pages.
 */
final class RequantizingPages extends SequencePages {
  private final PageLevels pageLevels;
  private final PageWidths widths;
  private int[] levels = {}; // by packed block, as its pages are stored

  RequantizingPages(CacheResources resources, PageWidths widths) {
    super(resources);
    this.pageLevels = resources.levels();
    this.widths = widths;
  }

  @Override
  int capacity() {
    return widths.capacity();
  }

  @Override
  int maxStep(int length, int tokens, boolean deferred) {
    return widths.stepCapacity(length, tokens, deferred);
  }

  @Override
  void reserve(int length, int end, boolean deferred) {
    if (deferred && widths.mustRequantizeFor(end)) {
      quantize(BLOCK_PAGES * widths.quantizable(length));
    }
    widths.reserve(length, end, deferred);
    requantize();
    super.reserve(length, end, deferred);
  }

  @Override
  void quantize(int pages) {
    for (int left = pages; left > 0; left -= BLOCK_PAGES) {
      quantizeBlock();
      requantize();
    }
  }

  private void quantizeBlock() {
    int level = widths.quantizeNext();
    long[] from = Arrays.copyOf(fp16, BLOCK_PAGES);
    long[] to =
        level == 0
            ? NONE
            : filledPages(
                level,
                allocated -> pageLevels.quantize(resources.operations(), from, allocated, level));
    fullEntries = null;
    packed = concat(packed, to.length == 0 ? from : to, 0, BLOCK_PAGES);
    levels = Arrays.copyOf(levels, levels.length + 1);
    levels[levels.length - 1] = to.length == 0 ? 0 : level;
    fp16 = Arrays.copyOfRange(fp16, BLOCK_PAGES, fp16.length);
    if (to.length > 0) {
      release(resources.fp16Pool(), from);
    }
  }

  /**
   * Allocates and fills the pages of a block at a level. Returns no pages if memory is missing; the
   * block then stays as it is until the next attempt.
   */
  private long[] filledPages(int level, Consumer<long[]> filling) {
    long[] allocated;
    try {
      allocated = pageLevels.pool(level).allocate(BLOCK_PAGES);
    } catch (MemoryFullException | DeviceException _) {
      return NONE;
    }
    try {
      resources.submit(() -> filling.accept(allocated));
      return allocated;
    } catch (RuntimeException | Error e) {
      release(pageLevels.pool(level), allocated);
      throw e;
    }
  }

  /** Requantizes one block at a time, so that at most one block is stored twice. */
  private void requantize() {
    for (int block = 0; block < levels.length; block++) {
      if (levels[block] < widths.level(block)) {
        requantize(block, widths.level(block));
      }
    }
  }

  private void requantize(int block, int level) {
    int first = BLOCK_PAGES * block;
    int before = levels[block];
    long[] from = Arrays.copyOfRange(packed, first, first + BLOCK_PAGES);
    long[] to =
        filledPages(
            level,
            allocated ->
                pageLevels.requantize(resources.operations(), from, before, allocated, level));
    if (to.length > 0) {
      fullEntries = null;
      System.arraycopy(to, 0, packed, first, BLOCK_PAGES);
      levels[block] = level;
      release(pageLevels.pool(before), from);
    }
  }

  /** Returns the width level of a packed page. */
  int level(int page) {
    return levels[page / BLOCK_PAGES];
  }

  @Override
  int quantizedPages() {
    return packed.length - count(0);
  }

  private int count(int level) {
    int count = 0;
    for (int each : levels) {
      count += each == level ? BLOCK_PAGES : 0;
    }
    return count;
  }

  @Override
  void addTo(PageTable table, int tokens) {
    long[] all = new long[pages()];
    int at = addFp16(all, add(all, 0, 1));
    int used =
        tokens <= sinkTokens
            ? Math.ceilDiv(tokens, TOKENS)
            : at - fp16.length + Math.ceilDiv(tokens - fp16Start(), TOKENS);
    long[] narrow = new long[count(2) + count(3)];
    add(narrow, add(narrow, 0, 2), 3);
    table.addSequence(
        all, count(1), used - count(1), lastTokens(tokens), narrow, count(2), count(3));
  }

  /** Lists 16-bit blocks before other fp16 pages: they are older, and every row sees them whole. */
  @Override
  long[] dequantizedEntries(DequantizedPages dequantized) {
    long[] all = new long[pages()];
    int at = 0;
    for (int page = 0; page < packed.length; page++) {
      if (level(page) > 0) {
        all[at++] = dequantized.add(level(page) - 1, packed[page]) | TOKENS - 1;
      }
    }
    addFp16(all, at);
    return all;
  }

  /** Adds sinks, 16-bit blocks, then other fp16 pages, and returns the next free index. */
  private int addFp16(long[] entries, int at) {
    System.arraycopy(sinkEntries(), 0, entries, at, sinks.length);
    int next = add(entries, at + sinks.length, 0);
    for (long page : fp16) {
      entries[next++] = page | TOKENS - 1;
    }
    return next;
  }

  /** Sinks may be followed by 16-bit blocks, whose pages are full. */
  @Override
  int lastTokens(int tokens) {
    return tokens == fp16Start() && count(0) > 0 ? TOKENS : super.lastTokens(tokens);
  }

  private int add(long[] entries, int at, int level) {
    int next = at;
    for (int page = 0; page < packed.length; page++) {
      if (level(page) == level) {
        entries[next++] = packed[page] | TOKENS - 1;
      }
    }
    return next;
  }

  @Override
  long packedBytes() {
    long bytes = 0;
    for (int level : levels) {
      bytes += BLOCK_PAGES * pageLevels.pool(level).totalPageBytes();
    }
    return bytes;
  }

  @Override
  long codeBytes(long perPage) {
    long bytes = 0;
    for (int level : levels) {
      bytes +=
          BLOCK_PAGES
              * (level == 0 ? pageLevels.pool(0).totalPageBytes() : pageLevels.codeBytes(level));
    }
    return bytes;
  }

  @Override
  boolean dequantize(long[] from, int firstPage) {
    int level = level(firstPage);
    if (level > 0) {
      return super.dequantize(from, firstPage);
    }
    for (long page : from) {
      resources.fp16Pool().retain(page);
    }
    fp16 = from; // unchanged fp16 pages
    return true;
  }

  @Override
  void launchDequantize(long[] from, int firstPage) {
    pageLevels.dequantize(resources.operations(), fp16, from, level(firstPage));
  }

  @Override
  void releasePacked(long[] dropped, int firstPage) {
    for (int i = 0; i < dropped.length; i++) {
      pageLevels.pool(level(firstPage + i)).release(dropped[i]);
    }
  }

  @Override
  int truncate(int tokens) {
    int left = super.truncate(tokens);
    levels = Arrays.copyOf(levels, packed.length / BLOCK_PAGES);
    widths.truncate(left, levels.length);
    requantize();
    return left;
  }

  @Override
  SequencePages fork(int tokens) {
    RequantizingPages fork = new RequantizingPages(resources, widths.fork());
    shareWith(fork, tokens);
    fork.levels = levels.clone();
    return fork;
  }

  @Override
  void retainPacked() {
    for (int page = 0; page < packed.length; page++) {
      pageLevels.pool(level(page)).retain(packed[page]);
    }
  }
}
