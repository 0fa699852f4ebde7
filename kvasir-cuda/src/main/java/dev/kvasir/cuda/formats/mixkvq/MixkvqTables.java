package dev.kvasir.cuda.formats.mixkvq;

import dev.kvasir.codec.mixkvq.Tiers;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.Fp16Page;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The tables of a sequence in {@link MixkvqFormat}: sums of query magnitudes, and extents with the
 * wide channels of its packed blocks. Consecutive blocks fill extents one after another. Each block
 * holds a reference to the extents that it uses.
 */
final class MixkvqTables implements SequenceTables {
  private static final long NONE = 0;
  private static final long[] NOTHING = {};

  private final CacheResources resources;
  private final WideChannels wideChannels;
  private final DeviceQueryMagnitudes magnitudes; // null if salience ignores queries
  private final List<Block> blocks; // the packed blocks
  private long open = NONE; // the extent being filled
  private int filled; // used bytes of the open extent
  private boolean dummy;

  /**
   * A packed block.
   *
   * @param codeBytes code bytes of its wide channels
   */
  private record Block(long[] extents, long codeBytes) {}

  MixkvqTables(CacheResources resources, MixkvqFormat format, WideChannels wideChannels) {
    this(
        resources,
        wideChannels,
        format.observesQueries() ? new DeviceQueryMagnitudes(resources, format.span()) : null,
        new ArrayList<>());
  }

  private MixkvqTables(
      CacheResources resources,
      WideChannels wideChannels,
      DeviceQueryMagnitudes magnitudes,
      List<Block> blocks) {
    this.resources = resources;
    this.wideChannels = wideChannels;
    this.magnitudes = magnitudes;
    this.blocks = blocks;
  }

  @Override
  public int pages() {
    return magnitudes == null ? 0 : magnitudes.pages();
  }

  @Override
  public void reserve(int count) {
    if (magnitudes != null) {
      magnitudes.reserve();
    }
  }

  @Override
  public void observeQuery(int position) {
    if (magnitudes != null) {
      magnitudes.observeQuery(position);
    }
  }

  /** Leaves everything unchanged if there is no memory for wide channels. */
  @Override
  public long[] quantizationMetadata(int position, long[] fp16) {
    Tiers[][] tiers =
        dummy
            ? TierAssignments.dummy(fp16.length / Fp16Page.BLOCK_PAGES, wideChannels)
            : wideChannels.assignTiers(resources, fp16, magnitudes);
    TierAssignments plans = new TierAssignments(wideChannels, tiers.length);
    int before = blocks.size();
    long openBefore = open;
    int filledBefore = filled;
    try {
      for (int block = 0; block < tiers.length; block++) {
        place(plans, block, tiers[block]);
      }
    } catch (RuntimeException | Error e) {
      truncateBlocks(before);
      open = openBefore;
      filled = filledBefore;
      throw e;
    }
    if (magnitudes != null) {
      magnitudes.markUsed();
    }
    return plans.longs();
  }

  private void place(TierAssignments plans, int block, Tiers[] tiers) {
    List<Long> held = new ArrayList<>();
    long codeBytes = 0;
    try {
      for (int head = 0; head < tiers.length; head++) {
        Tiers its = tiers[head];
        plans.setTiers(block, head, its);
        int bytes = MixkvqPage.wideBytes(its.mid(), its.high());
        for (int page = 0; bytes > 0 && page < Fp16Page.BLOCK_PAGES; page++) {
          plans.setAddress(block, head, page, place(bytes, held));
        }
        codeBytes += (long) Fp16Page.BLOCK_PAGES * MixkvqPage.wideCodeBytes(its.mid(), its.high());
      }
    } finally {
      blocks.add(new Block(held.stream().mapToLong(each -> each).toArray(), codeBytes));
    }
  }

  /** Allocates bytes in an extent and makes the block hold the extent. */
  private long place(int bytes, List<Long> held) {
    if (open == NONE || filled + bytes > WideChannels.EXTENT_BYTES) {
      open = wideChannels.extents().allocate(1)[0];
      filled = 0;
      held.add(open);
    } else if (!held.contains(open)) {
      wideChannels.extents().retain(open);
      held.add(open);
    }
    long place = open + filled;
    filled += bytes;
    return place;
  }

  @Override
  public void useDummy(int position) {
    dummy = true;
  }

  /** Returns no metadata: pages store the addresses of their wide channels. */
  @Override
  public long[] dequantizationMetadata(int count) {
    return NOTHING;
  }

  @Override
  public long[] entries() {
    return magnitudes == null
        ? NOTHING
        : new long[] {magnitudes.address() | magnitudes.activeSum()};
  }

  @Override
  public long extraBytes() {
    long extents =
        blocks.stream().flatMapToLong(each -> Arrays.stream(each.extents())).distinct().count();
    return extents * WideChannels.EXTENT_BYTES;
  }

  @Override
  public long extraCodeBytes() {
    return blocks.stream().mapToLong(Block::codeBytes).sum();
  }

  /** Forks the tables; the fork starts a new extent. */
  @Override
  public SequenceTables fork() {
    MixkvqTables fork =
        new MixkvqTables(
            resources,
            wideChannels,
            magnitudes == null ? null : magnitudes.fork(),
            new ArrayList<>(blocks));
    for (Block block : blocks) {
      for (long extent : block.extents()) {
        wideChannels.extents().retain(extent);
      }
    }
    return fork;
  }

  @Override
  public void truncate(int tokens, int count) {
    truncateBlocks(count);
    if (magnitudes != null) {
      magnitudes.truncate(tokens);
    }
  }

  private void truncateBlocks(int count) {
    while (blocks.size() > count) {
      for (long extent : blocks.removeLast().extents()) {
        wideChannels.extents().release(extent);
      }
      open = NONE; // the open extent may be released
    }
  }
}
