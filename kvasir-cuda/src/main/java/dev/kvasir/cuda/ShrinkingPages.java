package dev.kvasir.cuda;

import dev.kvasir.cache.PageWidths;
import dev.kvasir.memory.MemoryFullException;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * The pages of a sequence that shrink under its budget, as the host's do: {@link PageWidths} says
 * how far, and here it is done. A block that is packed to 16 bits stays in its pages of halves.
 *
 * <p>In tables: pages of 8 bits, sinks, those of 16 bits, other halves, then pages of 4 and of 2
 * bits.
 */
final class ShrinkingPages extends SequencePages {
  private final WidthPools pools;
  private final PageWidths widths;
  private int[] levels = {}; // of packed blocks, as their pages are

  ShrinkingPages(KindPages home, PageWidths widths) {
    super(home);
    this.pools = home.widths();
    this.widths = widths;
  }

  @Override
  int capacity() {
    return widths.capacity();
  }

  @Override
  int stepOf(int length, int tokens, boolean held) {
    return widths.stepOf(length, tokens, held);
  }

  @Override
  void reserve(int length, int end, boolean held) {
    if (held && widths.mustShrinkFor(end)) {
      pack(BLOCK_PAGES * widths.packable(length));
    }
    widths.reserve(length, end, held);
    shrink();
    super.reserve(length, end, held);
  }

  @Override
  void pack(int pages) {
    for (int left = pages; left > 0; left -= BLOCK_PAGES) {
      packBlock();
      shrink();
    }
  }

  private void packBlock() {
    int level = widths.pack();
    long[] from = Arrays.copyOf(halves, BLOCK_PAGES);
    long[] to =
        level == 0 ? NONE : moved(level, taken -> pools.pack(home.moves(), from, taken, level));
    full = null;
    packed = joined(packed, to.length == 0 ? from : to, 0, BLOCK_PAGES);
    levels = Arrays.copyOf(levels, levels.length + 1);
    levels[levels.length - 1] = to.length == 0 ? 0 : level;
    halves = Arrays.copyOfRange(halves, BLOCK_PAGES, halves.length);
    if (to.length > 0) {
      giveBack(home.halves(), from);
    }
  }

  /**
   * Takes pages of a level for a block and fills them; none where there is no memory for them: then
   * the block stays as it is, until it is to shrink again.
   */
  private long[] moved(int level, Consumer<long[]> filling) {
    long[] taken;
    try {
      taken = pools.at(level).take(BLOCK_PAGES);
    } catch (MemoryFullException | DeviceRefusal _) {
      return NONE;
    }
    try {
      home.move(() -> filling.accept(taken));
      return taken;
    } catch (RuntimeException | Error e) {
      giveBack(pools.at(level), taken);
      throw e;
    }
  }

  /** Block by block, so that no more than one lies beside its narrower self. */
  private void shrink() {
    for (int block = 0; block < levels.length; block++) {
      if (levels[block] < widths.level(block)) {
        shrink(block, widths.level(block));
      }
    }
  }

  private void shrink(int block, int level) {
    int first = BLOCK_PAGES * block;
    int before = levels[block];
    long[] from = Arrays.copyOfRange(packed, first, first + BLOCK_PAGES);
    long[] to = moved(level, taken -> pools.narrow(home.moves(), from, before, taken, level));
    if (to.length > 0) {
      full = null;
      System.arraycopy(to, 0, packed, first, BLOCK_PAGES);
      levels[block] = level;
      giveBack(pools.at(before), from);
    }
  }

  /** The level of a packed page. */
  int level(int page) {
    return levels[page / BLOCK_PAGES];
  }

  @Override
  int codedPages() {
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
  void describe(PageTable table, int tokens) {
    long[] all = new long[pages()];
    int at = addHalves(all, add(all, 0, 1));
    int used =
        tokens <= sinkTokens
            ? Math.ceilDiv(tokens, TOKENS)
            : at - halves.length + Math.ceilDiv(tokens - halvesFrom(), TOKENS);
    long[] narrow = new long[count(2) + count(3)];
    add(narrow, add(narrow, 0, 2), 3);
    table.addSequence(
        all, count(1), used - count(1), lastTokens(tokens), narrow, count(2), count(3));
  }

  /** Blocks of halves are older than other halves, and are seen whole as codes are. */
  @Override
  long[] inHalves(ExpandedPages expanded) {
    long[] all = new long[pages()];
    int at = 0;
    for (int page = 0; page < packed.length; page++) {
      if (level(page) > 0) {
        all[at++] = expanded.add(level(page) - 1, packed[page]) | TOKENS - 1;
      }
    }
    addHalves(all, at);
    return all;
  }

  /** Sinks, blocks of 16 bits, then other halves; the entry behind them. */
  private int addHalves(long[] entries, int at) {
    System.arraycopy(sinkEntries(), 0, entries, at, sinks.length);
    int next = add(entries, at + sinks.length, 0);
    for (long page : halves) {
      entries[next++] = page | TOKENS - 1;
    }
    return next;
  }

  /** Behind the sinks may be packed ones of halves, which are full. */
  @Override
  int lastTokens(int tokens) {
    return tokens == halvesFrom() && count(0) > 0 ? TOKENS : super.lastTokens(tokens);
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
      bytes += BLOCK_PAGES * pools.at(level).bytesOfAll();
    }
    return bytes;
  }

  @Override
  long codeBytes(long perPage) {
    long bytes = 0;
    for (int level : levels) {
      bytes += BLOCK_PAGES * (level == 0 ? pools.at(0).bytesOfAll() : pools.codeBytes(level));
    }
    return bytes;
  }

  @Override
  boolean unpack(long[] from, int firstPage) {
    int level = level(firstPage);
    if (level > 0) {
      return super.unpack(from, firstPage);
    }
    for (long page : from) {
      home.halves().share(page);
    }
    halves = from; // as they came
    return true;
  }

  @Override
  void moveUnpacked(long[] from, int firstPage) {
    pools.unpack(home.moves(), halves, from, level(firstPage));
  }

  @Override
  void giveBackPacked(long[] gone, int firstPage) {
    for (int i = 0; i < gone.length; i++) {
      pools.at(level(firstPage + i)).giveBack(gone[i]);
    }
  }

  @Override
  int keep(int tokens) {
    int left = super.keep(tokens);
    levels = Arrays.copyOf(levels, packed.length / BLOCK_PAGES);
    widths.keep(left, levels.length);
    shrink();
    return left;
  }

  @Override
  SequencePages fork(int tokens) {
    ShrinkingPages fork = new ShrinkingPages(home, widths.fork());
    shareWith(fork, tokens);
    fork.levels = levels.clone();
    return fork;
  }

  @Override
  void sharePacked() {
    for (int page = 0; page < packed.length; page++) {
      pools.at(level(page)).share(packed[page]);
    }
  }
}
