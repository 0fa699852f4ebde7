package dev.kvasir.natives;

/**
 * The maximum amount of one kind of work in a native call, chosen so that a call takes less than
 * 0.1 milliseconds.
 */
record CallBudget(long limit) {
  /**
   * Returns the number of rows or tokens per call, each of which costs {@code each}. Returns all of
   * them without a division if they fit, because small calls would notice it.
   */
  int itemsPerCall(int count, long each) {
    return count * each <= limit ? Math.max(1, count) : (int) Math.max(1, limit / each);
  }
}
