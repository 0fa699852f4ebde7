package dev.kvasir.cuda;

/**
 * How sequences are shared out to blocks.
 *
 * @param splits of a sequence at the most
 * @param pagesPerSplit a sequence has as many splits as it takes with so many pages each
 */
record SplitPlan(int splits, int pagesPerSplit) {
  /** What a block costs beside its rounds, in rounds: its beginning, and merging its output. */
  private static final int BLOCK_ROUNDS = 1;

  /**
   * The fewest rounds of warps, one wave of blocks after another.
   *
   * @param rows blocks of a sequence that is not split: KV heads, or parts of their query heads
   * @param slots blocks that run at once
   * @param warpPages pages that a block's warps take in a round
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

  /** Two waves of blocks, or a block for each row: what memory for partial outputs is taken for. */
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
