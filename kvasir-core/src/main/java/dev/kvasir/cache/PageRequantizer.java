package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizeScope;
import dev.kvasir.codec.RequantizingSequence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Keeps the pages of one sequence within its budget. It replaces pages that must become narrower,
 * one at a time per layer. The narrower page briefly exists next to the wider one, which is why a
 * budget counts one extra page per layer. A fork that shares the wider page keeps it. With a
 * budget, all layers retain everything, so their blocks are quantized together.
 */
final class PageRequantizer {
  private final PageBudget budget;
  private final RequantizingSequence codec;
  private final BlockTable blocks;
  private long nanos;

  PageRequantizer(PageBudget budget, RequantizingSequence codec, BlockTable blocks) {
    this.budget = budget;
    this.codec = codec;
    this.blocks = blocks;
  }

  PageBudget budget() {
    return budget;
  }

  /** Returns the time spent on requantization. */
  long nanos() {
    return nanos;
  }

  /** Requantizes until {@code quantized} blocks fit next to {@code dense} bytes. */
  void fit(int quantized, long dense) {
    PageLevels[] levels = levels(quantized, dense);
    for (int layer = 0; layer < levels.length; layer++) {
      int newest = levels[layer].newest();
      // If a layer's pages are requantized together, new pages are as wide as the others.
      boolean widens = budget.step() == RequantizeScope.PAGE;
      codec.setLevel(layer, widens ? newest : Math.max(newest, codec.level(layer)));
    }
    requantize(levels);
  }

  /**
   * Does the same for a truncated sequence. New pages are as wide as in a sequence that was never
   * longer; pages that were requantized stay as they are.
   */
  void restart(int quantized, long dense) {
    for (int layer = 0; layer < budget.layers(); layer++) {
      codec.setLevel(layer, 0);
    }
    fit(quantized, dense);
  }

  /** Returns whether {@link #fit} would narrow any page, present or future, or cannot succeed. */
  boolean mustRequantizeFor(int quantized, long dense) {
    if (!budget.fits(quantized, dense)) {
      return true;
    }
    PageLevels[] levels = levels(quantized, dense);
    for (int layer = 0; layer < levels.length; layer++) {
      if (levels[layer].newest() > codec.level(layer)) {
        return true;
      }
    }
    return !tooWide(levels).isEmpty();
  }

  /**
   * Returns how many of the next {@code tokens} fit into one step, if all pages become as narrow as
   * they can.
   *
   * @param length committed positions
   * @param quantized quantized blocks
   * @param quantizable dense blocks that can be quantized before the step
   */
  int stepCapacity(int length, int tokens, int quantized, int quantizable) {
    BlockBoundaries boundaries = blocks.pool().boundaries();
    int end = blocks.count();
    int reserved = boundaries.firstPosition(end);
    long dense = blocks.denseBytes() - budget.denseBytes((long) quantizable * Page.TOKENS);
    while (boundaries.firstPosition(end) < length + (long) tokens
        && budget.fits(
            quantized + quantizable,
            dense + budget.denseBytes(boundaries.firstPosition(end + 1) - reserved))) {
      end++;
    }
    return Math.min(tokens, boundaries.firstPosition(end) - length);
  }

  private PageLevels[] levels(int quantized, long dense) {
    PageLevels[] levels = new PageLevels[budget.layers()];
    Arrays.setAll(levels, layer -> budget.levels(layer, quantized, dense));
    return levels;
  }

  private void requantize(PageLevels[] levels) {
    List<WidePage> pages = tooWide(levels);
    if (!pages.isEmpty()) {
      long begin = System.nanoTime();
      budget.workers().run((layer, worker) -> requantizeLayer(pages, layer), levels.length);
      nanos += System.nanoTime() - begin;
    }
  }

  private void requantizeLayer(List<WidePage> pages, int layer) {
    for (WidePage page : pages) {
      if (page.layer() == layer) {
        blocks.requantize(page.block(), layer, codec, page.level());
      }
    }
  }

  private List<WidePage> tooWide(PageLevels[] levels) {
    List<WidePage> found = new ArrayList<>();
    int quantized = 0;
    for (int block = 0; block < blocks.count(); block++) {
      if (blocks.get(0, block) instanceof QuantizedBlock) {
        for (int layer = 0; layer < levels.length; layer++) {
          int level = levels[layer].of(quantized);
          Page page = ((QuantizedBlock) blocks.get(layer, block)).page(layer);
          if (codec.level(page) < level) {
            found.add(new WidePage(block, layer, level));
          }
        }
        quantized++;
      }
    }
    return found;
  }

  /**
   * A page that must become narrower.
   *
   * @param level its new level
   */
  private record WidePage(int block, int layer, int level) {}
}
