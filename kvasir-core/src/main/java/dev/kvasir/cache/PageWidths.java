package dev.kvasir.cache;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ShrinkStep;
import java.util.Arrays;

/**
 * How wide the pages of a sequence are under its budget, for a cache whose pages lie elsewhere:
 * what {@link PageShrinker} decides in {@link PagedCache}, without the pages. All layers have the
 * same floor, so they shrink together. Level 0 has 16 bits, and each further one half as many.
 */
public final class PageWidths {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final PageBudget budget;
  private final BlockPlaces places;
  private final int window;
  private int blocks; // that are reserved, those of sinks included
  private int next; // the level of pages to come
  private int[] levels; // of packed blocks

  private PageWidths(PageBudget budget, BlockPlaces places, int window, int[] levels) {
    this.budget = budget;
    this.places = places;
    this.window = window;
    this.levels = levels;
  }

  /**
   * @param spec of a cache with a budget of its own
   */
  public static PageWidths of(CacheSpec spec, CacheShape shape, CacheHost host) {
    CacheSettings settings = spec.plan().settings(shape, host);
    return new PageWidths(
        new PageBudget(shape, settings).requireRoom(),
        new BlockPlaces(settings.sinks()),
        settings.window(),
        new int[0]);
  }

  public PageWidths fork() {
    PageWidths fork = new PageWidths(budget, places, window, levels.clone());
    fork.blocks = blocks;
    fork.next = next;
    return fork;
  }

  /** All that the cache may take on the host. */
  public long bytes() {
    return budget.bytes();
  }

  public int capacity() {
    return budget.capacity();
  }

  /** Of packed blocks, as they have to be. */
  public int level(int block) {
    return levels[block];
  }

  public int packedBlocks() {
    return levels.length;
  }

  private int packedEnd() {
    return places.sinkBlocks() + levels.length;
  }

  /** Bytes of what is not packed with so many blocks reserved, of which so many are packed. */
  private long dense(int reserved, int packed) {
    return budget.denseBytes(places.firstPosition(reserved) - (long) packed * TOKENS);
  }

  /** Blocks that have left the window. */
  public int packable(int length) {
    int end = packedEnd();
    while (places.firstPosition(end + 1) + (long) window <= length) {
      end++;
    }
    return end - packedEnd();
  }

  /** Tokens of a step that fit. */
  public int stepOf(int length, int tokens, boolean held) {
    int packable = held ? packable(length) : 0;
    int packed = levels.length + packable;
    int end = blocks;
    while (places.firstPosition(end) < length + (long) tokens
        && budget.holds(packed, dense(end + 1, packed))) {
      end++;
    }
    return Math.min(tokens, places.firstPosition(end) - length);
  }

  /** Whether pages would become narrower, or those to come, if so many tokens were reserved. */
  public boolean mustShrinkFor(int wanted) {
    int reserved = reserved(wanted);
    long dense = dense(reserved, levels.length);
    if (reserved == blocks) {
      return false;
    }
    if (!budget.holds(levels.length, dense)) {
      return true;
    }
    PageLevels fitting = budget.levels(0, levels.length, dense);
    if (fitting.newest() > next) {
      return true;
    }
    for (int block = 0; block < levels.length; block++) {
      if (levels[block] < fitting.of(block)) {
        return true;
      }
    }
    return false;
  }

  private int reserved(int wanted) {
    return wanted == 0 ? 0 : Math.max(blocks, places.blockOf(wanted - 1) + 1);
  }

  /**
   * Makes room for so many tokens.
   *
   * @throws CacheFullException if they do not fit; nothing has changed then
   */
  public void reserve(int length, int wanted, boolean held) {
    int reserved = reserved(wanted);
    if (reserved == blocks) {
      return;
    }
    if (stepOf(length, wanted - length, held) < wanted - length) {
      throw budget.full(length, wanted);
    }
    fit(levels.length, dense(reserved, levels.length));
    blocks = reserved;
  }

  /** Packs another block; answers the level that it is coded to. Others may be narrower then. */
  public int pack() {
    int level = next;
    levels = Arrays.copyOf(levels, levels.length + 1);
    levels[levels.length - 1] = level;
    fit(levels.length, dense(blocks, levels.length));
    return level;
  }

  private void fit(int packed, long dense) {
    PageLevels fitting = budget.levels(0, packed, dense);
    next = budget.step() == ShrinkStep.PAGE ? fitting.newest() : Math.max(fitting.newest(), next);
    for (int block = 0; block < levels.length; block++) {
      levels[block] = Math.max(levels[block], fitting.of(block));
    }
  }

  /**
   * After a cut: what comes is packed as wide as in a sequence that never was longer.
   *
   * @param length that is left
   * @param packed blocks that are
   */
  public void keep(int length, int packed) {
    blocks = length == 0 ? 0 : places.blockOf(length - 1) + 1;
    levels = Arrays.copyOf(levels, packed);
    next = 0;
    fit(packed, dense(blocks, packed));
  }
}
