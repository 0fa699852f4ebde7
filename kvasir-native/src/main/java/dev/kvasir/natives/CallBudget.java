package dev.kvasir.natives;

/**
 * How much of a kind of work a call does at the most, so that it takes less than a tenth of a
 * millisecond.
 */
record CallBudget(long limit) {
  /**
   * Rows or tokens that go into a call, each of which is so much work; all of them without a
   * division, which small calls would feel.
   */
  int itemsPerCall(int count, long each) {
    return count * each <= limit ? Math.max(1, count) : (int) Math.max(1, limit / each);
  }
}
