package dev.kvasir.natives;

/**
 * How much of a kind of work a call does at the most, so that it takes less than a tenth of a
 * millisecond.
 */
record Work(long most) {
  /**
   * Rows or tokens that go into a call, each of which is so much work; all of them without a
   * division, which small calls would feel.
   */
  int together(int count, long each) {
    return count * each <= most ? Math.max(1, count) : (int) Math.max(1, most / each);
  }
}
