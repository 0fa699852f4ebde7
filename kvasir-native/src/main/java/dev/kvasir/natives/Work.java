package dev.kvasir.natives;

/**
 * How much of a kind of work a call does at the most, so that it takes less than a tenth of a
 * millisecond.
 */
record Work(long most) {
  /** Rows or tokens that go into a call, each of which is so much work. */
  int together(long each) {
    return Math.clamp(most / Math.max(1, each), 1, Integer.MAX_VALUE);
  }
}
