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
 * PageWidths} decides the widths; this class applies them. Layers with equal floors form a group,
 * which has packed pages of its own. If there is only one group, a block of 16 bits stays in its
 * fp16 pages; otherwise each group copies its layers.
 *
 * <p>Order in page tables: 8-bit pages, sinks, 16-bit blocks, other fp16 pages, then 4-bit and
 * 2-bit pages.
 */
final class RequantizingPages extends SequencePages {
  private final PageLevels pageLevels;
  private final PageWidths widths;
  private final int groups;
  private int[][] levels; // (groups, packed blocks), as their pages are stored
  private long[][] further; // packed pages of the groups after the first

  RequantizingPages(CacheResources resources, PageWidths widths) {
    super(resources);
    this.pageLevels = resources.levels();
    this.widths = widths;
    this.groups = pageLevels.groups().count();
    this.levels = new int[groups][0];
    this.further = new long[groups - 1][0];
  }

  @Override
  int groups() {
    return groups;
  }

  /** Returns the packed pages of a group. */
  private long[] packed(int group) {
    return group == 0 ? packed : further[group - 1];
  }

  private void setPacked(int group, long[] pages) {
    if (group == 0) {
      packed = pages;
    } else {
      further[group - 1] = pages;
    }
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
      if (!quantizeBlock()) {
        return;
      }
      requantize();
    }
  }

  /**
   * Quantizes the next block. If memory is missing, a single group keeps the block in its fp16
   * pages and narrows it later; several groups leave it in the residual window and return false.
   */
  private boolean quantizeBlock() {
    long[] from = Arrays.copyOf(fp16, BLOCK_PAGES);
    long[][] to = quantized(from);
    boolean stays = pageLevels.sharesFp16() && to[0].length == 0;
    if (!stays && to[groups - 1].length == 0) {
      return false;
    }
    fullEntries = null;
    for (int group = 0; group < groups; group++) {
      setPacked(group, concat(packed(group), stays ? from : to[group], 0, BLOCK_PAGES));
      levels[group] = Arrays.copyOf(levels[group], levels[group].length + 1);
      levels[group][levels[group].length - 1] = stays ? 0 : widths.nextLevel(group);
    }
    widths.quantizeNext();
    fp16 = Arrays.copyOfRange(fp16, BLOCK_PAGES, fp16.length);
    if (!stays) {
      release(resources.fp16Pool(), from);
    }
    return true;
  }

  /** Returns the pages of a quantized block by group; none of any group if memory is missing. */
  private long[][] quantized(long[] from) {
    long[][] to = new long[groups][];
    Arrays.fill(to, NONE);
    for (int group = 0; group < groups; group++) {
      int own = group;
      int level = widths.nextLevel(group);
      if (level > 0 || !pageLevels.sharesFp16()) {
        to[group] =
            filledPages(
                group,
                level,
                allocated ->
                    pageLevels.quantize(resources.operations(), from, allocated, own, level));
      }
      if (to[group].length == 0) {
        for (int before = 0; before < group; before++) {
          release(pageLevels.pool(before, widths.nextLevel(before)), to[before]);
        }
        Arrays.fill(to, NONE);
        return to;
      }
    }
    return to;
  }

  /**
   * Allocates and fills the pages of a block at a level. Returns no pages if memory is missing; the
   * block then stays as it is until the next attempt.
   */
  private long[] filledPages(int group, int level, Consumer<long[]> filling) {
    long[] allocated;
    try {
      allocated = pageLevels.pool(group, level).allocate(BLOCK_PAGES);
    } catch (MemoryFullException | DeviceException _) {
      return NONE;
    }
    try {
      resources.submit(() -> filling.accept(allocated));
      return allocated;
    } catch (RuntimeException | Error e) {
      release(pageLevels.pool(group, level), allocated);
      throw e;
    }
  }

  /** Requantizes one block at a time, so that at most one block is stored twice. */
  private void requantize() {
    for (int group = 0; group < groups; group++) {
      for (int block = 0; block < levels[group].length; block++) {
        if (levels[group][block] < widths.level(group, block)) {
          requantize(group, block, widths.level(group, block));
        }
      }
    }
  }

  private void requantize(int group, int block, int level) {
    int first = BLOCK_PAGES * block;
    int before = levels[group][block];
    long[] from = Arrays.copyOfRange(packed(group), first, first + BLOCK_PAGES);
    long[] to =
        filledPages(
            group,
            level,
            allocated ->
                pageLevels.requantize(
                    resources.operations(), from, before, allocated, level, group));
    if (to.length > 0) {
      fullEntries = null;
      System.arraycopy(to, 0, packed(group), first, BLOCK_PAGES);
      levels[group][block] = level;
      release(pageLevels.pool(group, before), from);
    }
  }

  /** Returns the width level of a group's packed page. */
  int level(int group, int page) {
    return levels[group][page / BLOCK_PAGES];
  }

  /** Returns the address of a group's packed page. */
  long packedPage(int group, int page) {
    return packed(group)[page];
  }

  @Override
  int quantizedPages() {
    int most = 0;
    for (int group = 0; group < groups; group++) {
      most = Math.max(most, quantizedPages(group));
    }
    return most;
  }

  @Override
  int quantizedPages(int group) {
    return packed.length - count(group, 0);
  }

  private int count(int group, int level) {
    int count = 0;
    for (int each : levels[group]) {
      count += each == level ? BLOCK_PAGES : 0;
    }
    return count;
  }

  @Override
  void addTo(PageTable table, int tokens) {
    for (int group = 0; group < groups; group++) {
      long[] all = new long[pages()];
      int eights = count(group, 1);
      int at = addFp16(group, all, add(group, all, 0, 1));
      int used =
          tokens <= sinkTokens
              ? Math.ceilDiv(tokens, TOKENS)
              : at - fp16.length + Math.ceilDiv(tokens - fp16Start(), TOKENS);
      int fours = count(group, 2);
      int twos = count(group, 3);
      long[] narrow = new long[fours + twos];
      add(group, narrow, add(group, narrow, 0, 2), 3);
      int last = lastTokens(group, tokens);
      if (group == 0) {
        table.addSequence(all, eights, used - eights, last, narrow, fours, twos);
      } else {
        table.addGroup(group, all, eights, used - eights, last, narrow, fours, twos);
      }
    }
  }

  /** Lists 16-bit blocks before other fp16 pages: they are older, and every row sees them whole. */
  @Override
  long[] dequantizedEntries(int group, DequantizedPages dequantized) {
    long[] all = new long[pages()];
    int at = 0;
    for (int page = 0; page < packed.length; page++) {
      int level = level(group, page);
      if (level > 0) {
        all[at++] = dequantized.add(group, level - 1, packed(group)[page]) | TOKENS - 1;
      }
    }
    addFp16(group, all, at);
    return all;
  }

  /** Adds sinks, 16-bit blocks, then other fp16 pages, and returns the next free index. */
  private int addFp16(int group, long[] entries, int at) {
    System.arraycopy(sinkEntries(), 0, entries, at, sinks.length);
    int next = add(group, entries, at + sinks.length, 0);
    for (long page : fp16) {
      entries[next++] = page | TOKENS - 1;
    }
    return next;
  }

  /** Sinks may be followed by 16-bit blocks, whose pages are full. */
  @Override
  int lastTokens(int group, int tokens) {
    return tokens == fp16Start() && count(group, 0) > 0 ? TOKENS : super.lastTokens(group, tokens);
  }

  private int add(int group, long[] entries, int at, int level) {
    int next = at;
    for (int page = 0; page < packed.length; page++) {
      if (level(group, page) == level) {
        entries[next++] = pageLevels.tableAddress(packed(group)[page], group, level) | TOKENS - 1;
      }
    }
    return next;
  }

  @Override
  long packedBytes() {
    long bytes = 0;
    for (int group = 0; group < groups; group++) {
      for (int level : levels[group]) {
        bytes += BLOCK_PAGES * pageLevels.pool(group, level).totalPageBytes();
      }
    }
    return bytes;
  }

  @Override
  long codeBytes(long perPage) {
    long bytes = 0;
    for (int group = 0; group < groups; group++) {
      for (int level : levels[group]) {
        bytes +=
            BLOCK_PAGES
                * (level == 0
                    ? pageLevels.pool(group, 0).totalPageBytes()
                    : pageLevels.codeBytes(group, level));
      }
    }
    return bytes;
  }

  @Override
  boolean dequantize(long[] from, int firstPage) {
    if (level(0, firstPage) > 0 || !pageLevels.sharesFp16()) {
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
    for (int group = 0; group < groups; group++) {
      long[] own = Arrays.copyOfRange(packed(group), firstPage, firstPage + from.length);
      pageLevels.dequantize(resources.operations(), fp16, own, group, level(group, firstPage));
    }
  }

  @Override
  void releasePacked(long[] dropped, int firstPage) {
    for (int group = 0; group < groups; group++) {
      for (int i = 0; i < dropped.length; i++) {
        long page = group == 0 ? dropped[i] : further[group - 1][firstPage + i];
        pageLevels.pool(group, level(group, firstPage + i)).release(page);
      }
      setPacked(group, Arrays.copyOf(packed(group), firstPage));
      levels[group] = Arrays.copyOf(levels[group], firstPage / BLOCK_PAGES);
    }
  }

  @Override
  int truncate(int tokens) {
    int left = super.truncate(tokens);
    widths.truncate(left, packed.length / BLOCK_PAGES);
    requantize();
    return left;
  }

  @Override
  SequencePages fork(int tokens) {
    RequantizingPages fork = new RequantizingPages(resources, widths.fork());
    shareWith(fork, tokens);
    fork.levels = Arrays.stream(levels).map(int[]::clone).toArray(int[][]::new);
    fork.further = Arrays.stream(further).map(long[]::clone).toArray(long[][]::new);
    return fork;
  }

  @Override
  void retainPacked() {
    for (int group = 0; group < groups; group++) {
      for (int page = 0; page < packed.length; page++) {
        pageLevels.pool(group, level(group, page)).retain(packed(group)[page]);
      }
    }
  }
}
