package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.RequantizeScope;
import java.util.Arrays;

/**
 * How wide the pages of a sequence are under its budget, for a cache whose pages lie elsewhere:
 * what {@link PageRequantizer} decides in {@link PagedCache}, without the pages. All layers have
 * the same floor, so they shrink together. Level 0 has 16 bits, and each further one half as many.
 */
public final class PageWidths {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final PageBudget budget;
  private final BlockBoundaries boundaries;
  private final int window;
  private int blocks; // that are reserved, those of sinks included
  private int next; // the level of pages to come
  private int[] levels; // of packed blocks

  private PageWidths(PageBudget budget, BlockBoundaries boundaries, int window, int[] levels) {
    this.budget = budget;
    this.boundaries = boundaries;
    this.window = window;
    this.levels = levels;
  }

  /**
   * @param spec of a cache with a budget of its own
   */
  public static PageWidths of(CacheSpec spec, CacheShape shape, CacheContext context) {
    CacheConfig settings = spec.config().cacheConfig(shape, context);
    return new PageWidths(
        new PageBudget(shape, settings).requireCapacity(),
        new BlockBoundaries(settings.sinks()),
        settings.window(),
        new int[0]);
  }

  public PageWidths fork() {
    PageWidths fork = new PageWidths(budget, boundaries, window, levels.clone());
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

  public int quantizedBlocks() {
    return levels.length;
  }

  private int quantizedEnd() {
    return boundaries.sinkBlocks() + levels.length;
  }

  /** Bytes of what is not packed with so many blocks reserved, of which so many are packed. */
  private long dense(int reserved, int quantized) {
    return budget.denseBytes(boundaries.firstPosition(reserved) - (long) quantized * TOKENS);
  }

  /** Blocks that have left the window. */
  public int quantizable(int length) {
    int end = quantizedEnd();
    while (boundaries.firstPosition(end + 1) + (long) window <= length) {
      end++;
    }
    return end - quantizedEnd();
  }

  /** Tokens of a step that fit. */
  public int stepCapacity(int length, int tokens, boolean isDeferred) {
    int quantizable = isDeferred ? quantizable(length) : 0;
    int quantized = levels.length + quantizable;
    int end = blocks;
    while (boundaries.firstPosition(end) < length + (long) tokens
        && budget.fits(quantized, dense(end + 1, quantized))) {
      end++;
    }
    return Math.min(tokens, boundaries.firstPosition(end) - length);
  }

  /** Whether pages would become narrower, or those to come, if so many tokens were reserved. */
  public boolean mustRequantizeFor(int wanted) {
    int reserved = reserved(wanted);
    long dense = dense(reserved, levels.length);
    if (reserved == blocks) {
      return false;
    }
    if (!budget.fits(levels.length, dense)) {
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
    return wanted == 0 ? 0 : Math.max(blocks, boundaries.blockOf(wanted - 1) + 1);
  }

  /**
   * Makes room for so many tokens.
   *
   * @throws CacheFullException if they do not fit; nothing has changed then
   */
  public void reserve(int length, int wanted, boolean isDeferred) {
    int reserved = reserved(wanted);
    if (reserved == blocks) {
      return;
    }
    if (stepCapacity(length, wanted - length, isDeferred) < wanted - length) {
      throw budget.full(length, wanted);
    }
    fit(levels.length, dense(reserved, levels.length));
    blocks = reserved;
  }

  /** Packs another block; answers the level that it is coded to. Others may be narrower then. */
  public int quantizeNext() {
    int level = next;
    levels = Arrays.copyOf(levels, levels.length + 1);
    levels[levels.length - 1] = level;
    fit(levels.length, dense(blocks, levels.length));
    return level;
  }

  private void fit(int quantized, long dense) {
    PageLevels fitting = budget.levels(0, quantized, dense);
    next =
        budget.step() == RequantizeScope.PAGE ? fitting.newest() : Math.max(fitting.newest(), next);
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
  public void truncate(int length, int quantized) {
    blocks = length == 0 ? 0 : boundaries.blockOf(length - 1) + 1;
    levels = Arrays.copyOf(levels, quantized);
    next = 0;
    fit(quantized, dense(blocks, quantized));
  }
}
