package dev.kvasir.cache;

/**
 * The levels of a layer's pages: the oldest may be a level narrower than the others.
 *
 * <pre>
 * sealed block  0 ... older - 1   older ...
 * level         newest + 1        newest
 * </pre>
 *
 * @param newest of the pages that are sealed next, and of those before them
 * @param older how many pages are narrower
 */
record PageLevels(int newest, int older) {
  int of(int index) {
    return index < older ? newest + 1 : newest;
  }

  /** Those of a sequence that had to fit both: one of the two is nowhere wider than the other. */
  PageLevels and(PageLevels other) {
    if (newest == other.newest) {
      return older >= other.older ? this : other;
    }
    return newest > other.newest ? this : other;
  }
}
