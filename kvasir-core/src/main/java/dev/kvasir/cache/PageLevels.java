package dev.kvasir.cache;

/**
 * The levels of a layer's pages: the oldest may be one level narrower than the others.
 *
 * <pre>
 * quantized block  0 ... older - 1   older ...
 * level            newest + 1        newest
 * </pre>
 *
 * @param newest level of the pages quantized next, and of those just before them
 * @param older number of narrower pages
 */
record PageLevels(int newest, int older) {
  int of(int index) {
    return index < older ? newest + 1 : newest;
  }

  /** Returns the narrower of two sets of levels; one of them is nowhere wider than the other. */
  PageLevels and(PageLevels other) {
    if (newest == other.newest) {
      return older >= other.older ? this : other;
    }
    return newest > other.newest ? this : other;
  }
}
