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

  /**
   * @param before returned if the plan is the same; may be null
   */
  static SplitPlan of(PageTable table, SplitPlan before) {
    int longest = 1;
    for (int s = 0; s < table.sequences(); s++) {
      longest = Math.max(longest, table.pages(s));
    }
    int splits = splits(longest);
    int pages = Math.ceilDiv(Math.ceilDiv(longest, splits), PAGE_STEP) * PAGE_STEP;
    boolean isSame =
        before != null
            && before.splits == splits
            && before.pagesPerSplit == pages
            && before.maxPages == MAX_PAGES
            && before.shortPages == SHORT_PAGES;
    return isSame ? before : new SplitPlan(splits, pages, MAX_PAGES, SHORT_PAGES);
  }

  /** Returns the splits of a sequence. */
  static int splits(int pages) {
    return splits(pages, MAX_PAGES, SHORT_PAGES);
  }

  private static int splits(int pages, int maxPages, int shortPages) {
    int few = Math.min(Math.ceilDiv(pages, shortPages), SHORT_SPLITS);
    return Math.max(few, Math.ceilDiv(pages, maxPages));
  }

  /** Returns the splits of a sequence in this plan. */
  int splitsOf(int pages) {
    return Math.min(splits, splits(pages, maxPages, shortPages));
  }

  /** Returns the splits for which a step of some sequences always has memory. */
  static int capacity(int sequences) {
    return SHORT_SPLITS * sequences;
  }
}
