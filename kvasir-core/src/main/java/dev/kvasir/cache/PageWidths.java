package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.RequantizeScope;
import java.util.Arrays;

/**
 * The widths of a sequence's pages under its budget, for a cache whose pages are elsewhere, such as
 * on a GPU. It decides what {@link PageRequantizer} decides in {@link PagedCache}, without the
 * pages. All layers have the same floor, so they are requantized together. Level 0 has 16 bits, and
 * each further level half as many.
 */
public final class PageWidths {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final PageBudget budget;
  private final BlockBoundaries boundaries;
  private final int window;
  private int blocks; // reserved, those of sinks included
  private int next; // the level of pages to come
  private int[] levels; // of quantized blocks

  private PageWidths(PageBudget budget, BlockBoundaries boundaries, int window, int[] levels) {
    this.budget = budget;
    this.boundaries = boundaries;
    this.window = window;
    this.levels = levels;
  }

  /**
   * @param spec a cache with a budget
   */
  public static PageWidths of(CacheSpec spec, CacheShape shape, CacheContext context) {
    CacheConfig config = spec.configFor(shape).cacheConfig(shape, context);
    return new PageWidths(
        new PageBudget(shape, config).requireCapacity(),
        new BlockBoundaries(config.sinks()),
        config.window(),
        new int[0]);
  }

  public PageWidths fork() {
    PageWidths fork = new PageWidths(budget, boundaries, window, levels.clone());
    fork.blocks = blocks;
    fork.next = next;
    return fork;
  }

  public int capacity() {
    return budget.capacity();
  }

  /** Returns the required level of a quantized block. */
  public int level(int block) {
    return levels[block];
  }

  public int quantizedBlocks() {
    return levels.length;
  }

  private int quantizedEnd() {
    return boundaries.sinkBlocks() + levels.length;
  }

  /** Returns the dense bytes of {@code reserved} blocks, {@code quantized} of them quantized. */
  private long dense(int reserved, int quantized) {
    return budget.denseBytes(boundaries.firstPosition(reserved) - (long) quantized * TOKENS);
  }

  /** Returns the number of blocks that have left the residual window. */
  public int quantizable(int length) {
    int end = quantizedEnd();
    while (boundaries.firstPosition(end + 1) + (long) window <= length) {
      end++;
    }
    return end - quantizedEnd();
  }

  /** Returns how many tokens of a step fit. */
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

  /**
   * Returns whether a reservation of {@code wanted} tokens would narrow any page, present or
   * future.
   */
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
   * Reserves memory for {@code wanted} tokens.
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

  /** Counts another block as quantized and returns its level. Other pages may become narrower. */
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
   * Truncates the sequence. New pages are as wide as in a sequence that was never longer.
   *
   * @param length remaining tokens
   * @param quantized remaining quantized blocks
   */
  public void truncate(int length, int quantized) {
    blocks = length == 0 ? 0 : boundaries.blockOf(length - 1) + 1;
    levels = Arrays.copyOf(levels, quantized);
    next = 0;
    fit(quantized, dense(blocks, quantized));
  }
}
