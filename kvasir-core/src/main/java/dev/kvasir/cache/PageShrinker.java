package dev.kvasir.cache;

import dev.kvasir.codec.ShrinkingSequence;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps the pages of one sequence within its budget. Pages that must be narrower are replaced one
 * by one, and each wider one is let go before memory is taken for the narrower; a fork that shares
 * it keeps it.
 */
final class PageShrinker {
  private final PageBudget budget;
  private final ShrinkingSequence codec;
  private final List<Block> blocks;
  private long nanos;

  PageShrinker(PageBudget budget, ShrinkingSequence codec, List<Block> blocks) {
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

  /**
   * Makes room for so many sealed blocks beside so many dense bytes. What is sealed next is as wide
   * as there is room for; pages that have shrunk stay as they are.
   */
  void fit(int sealed, long dense) {
    PageLevels[] levels = new PageLevels[budget.layers()];
    for (int layer = 0; layer < levels.length; layer++) {
      levels[layer] = budget.levels(layer, sealed, dense);
      codec.moveTo(layer, levels[layer].newest());
    }
    shrink(levels);
  }

  private void shrink(PageLevels[] levels) {
    List<Runnable> work = new ArrayList<>();
    int sealed = 0;
    for (Block block : blocks) {
      if (block instanceof SealedBlock pages) {
        int index = sealed++;
        if (isTooWide(pages, levels, index)) {
          work.add(() -> shrink(pages, levels, index));
        }
      }
    }
    if (!work.isEmpty()) {
      long begin = System.nanoTime();
      budget.crew().run((i, worker) -> work.get(i).run(), work.size());
      nanos += System.nanoTime() - begin;
    }
  }

  private boolean isTooWide(SealedBlock pages, PageLevels[] levels, int sealed) {
    for (int layer = 0; layer < levels.length; layer++) {
      if (codec.level(pages.page(layer)) < levels[layer].of(sealed)) {
        return true;
      }
    }
    return false;
  }

  private void shrink(SealedBlock pages, PageLevels[] levels, int sealed) {
    for (int layer = 0; layer < levels.length; layer++) {
      int level = levels[layer].of(sealed);
      if (codec.level(pages.page(layer)) < level) {
        pages.shrink(codec, layer, level);
      }
    }
  }
}
