package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.RequantizeScope;
import java.util.Arrays;

/**
 * The widths of a sequence's pages under its budget, for a cache whose pages are elsewhere, such as
 * on a GPU. It decides what {@link PageRequantizer} decides in {@link PagedCache}, without the
 * pages. Layers with the same floor form a group and are requantized together. Level 0 has 16 bits,
 * and each further level half as many.
 */
public final class PageWidths {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final PageBudget budget;
  private final BlockBoundaries boundaries;
  private final int window;
  private final int[] layers; // a layer of each group
  private int blocks; // reserved, those of sinks included
  private int quantized; // blocks
  private int[] next; // the level of pages to come, by group
  private int[][] levels; // (groups, quantized blocks)

  private PageWidths(PageBudget budget, BlockBoundaries boundaries, int window, int[] layers) {
    this.budget = budget;
    this.boundaries = boundaries;
    this.window = window;
    this.layers = layers;
    this.next = new int[layers.length];
    this.levels = new int[layers.length][0];
  }

  /**
   * Returns the widths of layers that all have the same floor.
   *
   * @param spec a cache with a budget
   */
  public static PageWidths of(CacheSpec spec, CacheShape shape, CacheContext context) {
    return of(spec, shape, context, 0);
  }

  /**
   * Returns the widths of groups of layers.
   *
   * @param spec a cache with a budget
   * @param layers a layer of each group
   */
  public static PageWidths of(
      CacheSpec spec, CacheShape shape, CacheContext context, int... layers) {
    CacheConfig config = spec.configFor(shape).cacheConfig(shape, context);
    return new PageWidths(
        new PageBudget(shape, config).requireCapacity(),
        new BlockBoundaries(config.sinks()),
        config.window(),
        layers.clone());
  }

  public PageWidths fork() {
    PageWidths fork = new PageWidths(budget, boundaries, window, layers);
    fork.blocks = blocks;
    fork.quantized = quantized;
    fork.next = next.clone();
    fork.levels = Arrays.stream(levels).map(int[]::clone).toArray(int[][]::new);
    return fork;
  }

  public int capacity() {
    return budget.capacity();
  }

  /** Returns the required level of a group's quantized block. */
  public int level(int group, int block) {
    return levels[group][block];
  }

  /** Returns the level of a group's pages to come. */
  public int nextLevel(int group) {
    return next[group];
  }

  public int quantizedBlocks() {
    return quantized;
  }

  private int quantizedEnd() {
    return boundaries.sinkBlocks() + quantized;
  }

  /** Returns the dense bytes of {@code reserved} blocks, {@code packed} of them quantized. */
  private long dense(int reserved, int packed) {
    return budget.denseBytes(boundaries.firstPosition(reserved) - (long) packed * TOKENS);
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
    int packed = quantized + (isDeferred ? quantizable(length) : 0);
    int end = blocks;
    while (boundaries.firstPosition(end) < length + (long) tokens
        && budget.fits(packed, dense(end + 1, packed))) {
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
    long dense = dense(reserved, quantized);
    if (reserved == blocks) {
      return false;
    }
    if (!budget.fits(quantized, dense)) {
      return true;
    }
    for (int group = 0; group < layers.length; group++) {
      if (isTooWide(group, budget.levels(layers[group], quantized, dense))) {
        return true;
      }
    }
    return false;
  }

  private boolean isTooWide(int group, PageLevels fitting) {
    if (fitting.newest() > next[group]) {
      return true;
    }
    for (int block = 0; block < quantized; block++) {
      if (levels[group][block] < fitting.of(block)) {
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
    fit(dense(reserved, quantized));
    blocks = reserved;
  }

  /**
   * Counts another block as quantized, at the {@linkplain #nextLevel next} level of each group.
   * Other pages may become narrower.
   */
  public void quantizeNext() {
    quantized++;
    for (int group = 0; group < layers.length; group++) {
      levels[group] = Arrays.copyOf(levels[group], quantized);
      levels[group][quantized - 1] = next[group];
    }
    fit(dense(blocks, quantized));
  }

  private void fit(long dense) {
    for (int group = 0; group < layers.length; group++) {
      PageLevels fitting = budget.levels(layers[group], quantized, dense);
      boolean widens = budget.step() == RequantizeScope.PAGE;
      next[group] = widens ? fitting.newest() : Math.max(fitting.newest(), next[group]);
      for (int block = 0; block < quantized; block++) {
        levels[group][block] = Math.max(levels[group][block], fitting.of(block));
      }
    }
  }

  /**
   * Truncates the sequence. New pages are as wide as in a sequence that was never longer.
   *
   * @param length remaining tokens
   * @param packed remaining quantized blocks
   */
  public void truncate(int length, int packed) {
    blocks = length == 0 ? 0 : boundaries.blockOf(length - 1) + 1;
    quantized = packed;
    Arrays.setAll(levels, group -> Arrays.copyOf(levels[group], packed));
    Arrays.fill(next, 0);
    fit(dense(blocks, packed));
  }
}
