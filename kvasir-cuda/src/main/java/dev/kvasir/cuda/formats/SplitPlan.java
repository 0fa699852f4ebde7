package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.memory.PageTable;

/**
 * How sequences are split into thread blocks (split-KV).
 *
 * @param splits maximum splits of a sequence
 * @param pagesPerSplit pages of every split but the last
 */
public record SplitPlan(int splits, int pagesPerSplit) {
  /** Fixed cost of a block in rounds: startup and merging its output. */
  private static final int BLOCK_ROUNDS = 1;

  /**
   * Returns the plan with the fewest rounds of warps over all waves of blocks.
   *
   * @param rows thread blocks of an unsplit sequence: KV heads, or parts of their query heads
   * @param slots blocks that run at once
   * @param warpPages pages that the warps of a block read per round
   */
  static SplitPlan of(PageTable table, int rows, int slots, double warpPages) {
    int longest = 1;
    for (int s = 0; s < table.sequences(); s++) {
      longest = Math.max(longest, table.pages(s));
    }
    int best = 1;
    double least = Double.POSITIVE_INFINITY;
    int maxSplits = maxSplits(table.sequences(), rows, slots);
    for (int splits = 1; splits <= Math.min(maxSplits, longest); splits++) {
      double cost = rounds(table, rows, slots, warpPages, Math.ceilDiv(longest, splits));
      if (cost < least) {
        least = cost;
        best = splits;
      }
    }
    return new SplitPlan(best, Math.ceilDiv(longest, best));
  }

  /**
   * Returns the maximum number of splits: two waves of blocks, but at least one block per row.
   * Memory for partial outputs is sized for this.
   */
  static int maxSplits(int sequences, int rows, int slots) {
    return Math.max(1, 2 * slots / Math.max(1, sequences * rows));
  }

  private static double rounds(
      PageTable table, int rows, int slots, double warpPages, int pagesPerSplit) {
    long blocks = 0;
    for (int s = 0; s < table.sequences(); s++) {
      blocks += (long) rows * Math.ceilDiv(table.pages(s), pagesPerSplit);
    }
    return Math.ceilDiv(blocks, slots) * (Math.ceil(pagesPerSplit / warpPages) + BLOCK_ROUNDS);
  }
}
