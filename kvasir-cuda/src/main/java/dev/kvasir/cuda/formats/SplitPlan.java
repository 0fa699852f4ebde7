package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.memory.PageTable;

/**
 * How sequences are split into thread blocks (split-KV). The number of splits of a sequence depends
 * on its own length only, as in attention.cuh, so that other sequences of a batch do not change the
 * order of its sums. A sequence of up to four short splits has as many as its pages fill, a longer
 * one four, and a very long one as many as keep a split to its maximum.
 *
 * @param splits maximum splits of a sequence
 * @param pagesPerSplit maximum pages of a split when all sequences have that many
 * @param maxPages pages of a split of a long sequence
 * @param shortPages pages of a split of a short sequence
 */
public record SplitPlan(int splits, int pagesPerSplit, int maxPages, int shortPages) {
  /** More pages per thread block amortize its start in large batches. */
  private static final int MAX_PAGES = 64;

  /** Fewer pages would leave warps without one. */
  private static final int SHORT_PAGES = 8;

  private static final int SHORT_SPLITS = 4;

  /**
   * Pages per split are rounded up to a multiple, so that recorded steps can be used for longer.
   */
  private static final int PAGE_STEP = 16;

  /** A plan with a fixed number of splits for the longest sequence. */
  public SplitPlan(int splits, int pagesPerSplit) {
    this(splits, pagesPerSplit, pagesPerSplit, pagesPerSplit);
  }

  static SplitPlan of(PageTable table) {
    int longest = 1;
    for (int s = 0; s < table.sequences(); s++) {
      longest = Math.max(longest, table.pages(s));
    }
    int splits = splits(longest);
    int pages = Math.ceilDiv(Math.ceilDiv(longest, splits), PAGE_STEP) * PAGE_STEP;
    return new SplitPlan(splits, pages, MAX_PAGES, SHORT_PAGES);
  }

  /** Returns the splits of a sequence. */
  static int splits(int pages) {
    int few = Math.min(Math.ceilDiv(pages, SHORT_PAGES), SHORT_SPLITS);
    return Math.max(few, Math.ceilDiv(pages, MAX_PAGES));
  }

  /** Returns the splits for which a step of some sequences always has memory. */
  static int capacity(int sequences) {
    return SHORT_SPLITS * sequences;
  }
}
