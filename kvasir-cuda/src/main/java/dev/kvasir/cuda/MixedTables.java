package dev.kvasir.cuda;

import dev.kvasir.codec.mixkvq.Tiers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a sequence has beside pages of {@link MixedFormat}: sums of its queries, and extents with
 * the wider channels of its packed blocks. Extents are filled one after another, by blocks that
 * follow each other; each block holds those that it has something in.
 */
final class MixedTables implements SequenceTables {
  private static final long NONE = 0;

  private final KindPages home;
  private final MixedFormat format;
  private final WiderChannels wider;
  private final QuerySums sums; // null where queries do not matter
  private final List<Block> blocks; // that are packed
  private long open = NONE; // the extent that is being filled
  private int filled; // bytes of it
  private boolean pretends;

  /**
   * A packed block.
   *
   * @param codeBytes of its wider channels
   */
  private record Block(long[] extents, long codeBytes) {}

  MixedTables(KindPages home, MixedFormat format) {
    this(
        home,
        format,
        format.seesQueries() ? new QuerySums(home, format.span()) : null,
        new ArrayList<>());
  }

  private MixedTables(KindPages home, MixedFormat format, QuerySums sums, List<Block> blocks) {
    this.home = home;
    this.format = format;
    this.wider = home.wider();
    this.sums = sums;
    this.blocks = blocks;
  }

  @Override
  public int pages() {
    return sums == null ? 0 : sums.pages();
  }

  @Override
  public void reserve(int count) {
    if (sums != null) {
      sums.reserve();
    }
  }

  @Override
  public void see(int position) {
    if (sums != null) {
      sums.see(position);
    }
  }

  /** Nothing has changed where there is no memory for wider channels. */
  @Override
  public long[] toPack(int position, long[] halves) {
    Tiers[][] tiers =
        pretends
            ? TierPlans.pretended(halves.length / SequencePages.BLOCK_PAGES, wider)
            : wider.divide(home, halves, sums);
    TierPlans plans = new TierPlans(wider, tiers.length);
    int before = blocks.size();
    long openBefore = open;
    int filledBefore = filled;
    try {
      for (int block = 0; block < tiers.length; block++) {
        place(plans, block, tiers[block]);
      }
    } catch (RuntimeException | Error e) {
      keepBlocks(before);
      open = openBefore;
      filled = filledBefore;
      throw e;
    }
    if (sums != null) {
      sums.use();
    }
    return plans.longs();
  }

  private void place(TierPlans plans, int block, Tiers[] tiers) {
    List<Long> held = new ArrayList<>();
    long codeBytes = 0;
    try {
      for (int head = 0; head < tiers.length; head++) {
        Tiers its = tiers[head];
        plans.setTiers(block, head, its);
        int bytes = MixedPage.widerBytes(its.mid(), its.high());
        for (int page = 0; bytes > 0 && page < SequencePages.BLOCK_PAGES; page++) {
          plans.setPlace(block, head, page, place(bytes, held));
        }
        codeBytes +=
            (long) SequencePages.BLOCK_PAGES * MixedPage.widerCodeBytes(its.mid(), its.high());
      }
    } finally {
      blocks.add(new Block(held.stream().mapToLong(each -> each).toArray(), codeBytes));
    }
  }

  /** Room for a piece, in an extent that the block then holds. */
  private long place(int bytes, List<Long> held) {
    if (open == NONE || filled + bytes > WiderChannels.EXTENT_BYTES) {
      open = wider.extents().take(1)[0];
      filled = 0;
      held.add(open);
    } else if (!held.contains(open)) {
      wider.extents().share(open);
      held.add(open);
    }
    long place = open + filled;
    filled += bytes;
    return place;
  }

  @Override
  public void pretend(int position) {
    pretends = true;
  }

  /** Pages say where their wider channels are. */
  @Override
  public long[] toUnpack(int count) {
    return SequencePages.NONE;
  }

  @Override
  public long[] entries() {
    return sums == null ? SequencePages.NONE : new long[] {sums.address() | sums.which()};
  }

  @Override
  public long besideBytes() {
    long extents =
        blocks.stream().flatMapToLong(each -> Arrays.stream(each.extents())).distinct().count();
    return extents * WiderChannels.EXTENT_BYTES;
  }

  @Override
  public long besideCodeBytes() {
    return blocks.stream().mapToLong(Block::codeBytes).sum();
  }

  /** The fork begins an extent of its own. */
  @Override
  public SequenceTables fork() {
    MixedTables fork =
        new MixedTables(home, format, sums == null ? null : sums.fork(), new ArrayList<>(blocks));
    for (Block block : blocks) {
      for (long extent : block.extents()) {
        wider.extents().share(extent);
      }
    }
    return fork;
  }

  @Override
  public void keep(int tokens, int count) {
    keepBlocks(count);
    if (sums != null) {
      sums.keep(tokens);
    }
  }

  private void keepBlocks(int count) {
    while (blocks.size() > count) {
      for (long extent : blocks.removeLast().extents()) {
        wider.extents().giveBack(extent);
      }
      open = NONE; // it may have gone
    }
  }
}
