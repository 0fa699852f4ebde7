package dev.kvasir.cache;

import dev.kvasir.codec.ShrinkStep;
import dev.kvasir.codec.ShrinkingSequence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Keeps the pages of one sequence within its budget. Pages that must be narrower are replaced,
 * those of a layer one after another: a narrower page lies beside the wider one for a moment, and a
 * budget counts one page more than a layer has. A fork that shares the wider page keeps it. With a
 * budget all layers hold everything, in one group.
 */
final class PageShrinker {
  private final PageBudget budget;
  private final ShrinkingSequence codec;
  private final HostBlocks blocks;
  private long nanos;

  PageShrinker(PageBudget budget, ShrinkingSequence codec, HostBlocks blocks) {
    this.budget = budget;
    this.codec = codec;
    this.blocks = blocks;
  }

  PageBudget budget() {
    return budget;
  }

  /** Time that shrinking has taken. */
  long nanos() {
    return nanos;
  }

  /** Makes room for so many sealed blocks beside so many dense bytes. */
  void fit(int sealed, long dense) {
    PageLevels[] levels = levels(sealed, dense);
    for (int layer = 0; layer < levels.length; layer++) {
      int newest = levels[layer].newest();
      // Where a layer's pages shrink together, those to come are as wide as the others.
      boolean widens = budget.step() == ShrinkStep.PAGE;
      codec.moveTo(layer, widens ? newest : Math.max(newest, codec.level(layer)));
    }
    shrink(levels);
  }

  /**
   * The same for a sequence that was cut: what comes after is packed as wide as in a sequence that
   * never was longer. Pages that have shrunk stay as they are.
   */
  void begin(int sealed, long dense) {
    for (int layer = 0; layer < budget.layers(); layer++) {
      codec.moveTo(layer, 0);
    }
    fit(sealed, dense);
  }

  /** Whether that would make any page narrower, or those to come, or is not to be had at all. */
  boolean mustShrinkFor(int sealed, long dense) {
    if (!budget.holds(sealed, dense)) {
      return true;
    }
    PageLevels[] levels = levels(sealed, dense);
    for (int layer = 0; layer < levels.length; layer++) {
      if (levels[layer].newest() > codec.level(layer)) {
        return true;
      }
    }
    return !tooWide(levels).isEmpty();
  }

  private PageLevels[] levels(int sealed, long dense) {
    PageLevels[] levels = new PageLevels[budget.layers()];
    Arrays.setAll(levels, layer -> budget.levels(layer, sealed, dense));
    return levels;
  }

  private void shrink(PageLevels[] levels) {
    List<WidePage> pages = tooWide(levels);
    if (!pages.isEmpty()) {
      long begin = System.nanoTime();
      budget.crew().run((layer, worker) -> shrinkLayer(pages, layer), levels.length);
      nanos += System.nanoTime() - begin;
    }
  }

  private void shrinkLayer(List<WidePage> pages, int layer) {
    for (WidePage page : pages) {
      if (page.layer() == layer) {
        blocks.shrink(page.block(), layer, codec, page.level());
      }
    }
  }

  private List<WidePage> tooWide(PageLevels[] levels) {
    List<WidePage> found = new ArrayList<>();
    int sealed = 0;
    for (int block = 0; block < blocks.count(); block++) {
      if (blocks.get(0, block) instanceof SealedBlock pages) {
        for (int layer = 0; layer < levels.length; layer++) {
          int level = levels[layer].of(sealed);
          if (codec.level(pages.page(layer)) < level) {
            found.add(new WidePage(block, layer, level));
          }
        }
        sealed++;
      }
    }
    return found;
  }

  /**
   * A page that must become narrower.
   *
   * @param level that it shrinks to
   */
  private record WidePage(int block, int layer, int level) {}
}
