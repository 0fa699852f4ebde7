package dev.kvasir.cache;

import dev.kvasir.codec.ShrinkingSequence;
import java.util.List;

/**
 * Keeps the pages of one sequence within its budget: a layer that does not fit is shrunk, all of
 * its pages, until it does. Pages are replaced one by one, and each wider one is let go before
 * memory is taken for the narrower; a fork that shares it keeps it.
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

  /** Makes room for so many sealed blocks beside so many dense bytes. */
  void fit(int sealed, long dense) {
    boolean narrower = false;
    for (int layer = 0; layer < budget.layers(); layer++) {
      int level = budget.level(layer, sealed, dense);
      if (level > codec.level(layer)) {
        codec.moveTo(layer, level);
        narrower = true;
      }
    }
    if (narrower) {
      shrink();
    }
  }

  /**
   * The same for a sequence that was cut: what comes after is packed as wide as in a sequence that
   * never was longer. Pages that have shrunk stay as they are.
   */
  void begin(int sealed, long dense) {
    for (int layer = 0; layer < budget.layers(); layer++) {
      codec.moveTo(layer, budget.level(layer, sealed, dense));
    }
    shrink();
  }

  private void shrink() {
    long begin = System.nanoTime();
    budget.crew().run((block, worker) -> shrink(blocks.get(block)), blocks.size());
    nanos += System.nanoTime() - begin;
  }

  private void shrink(Block block) {
    if (block instanceof SealedBlock sealed) {
      for (int layer = 0; layer < budget.layers(); layer++) {
        sealed.shrink(codec, layer);
      }
    }
  }
}
