package dev.kvasir.bench;

/**
 * Milliseconds between two tokens of a stream that is alone, by its length: attention takes the
 * longer, the more it attends to, so what is usual grows while a stream runs.
 *
 * @param early of a stream of so many tokens as {@code earlyTokens}
 * @param late of one of {@code lateTokens}, which are more
 */
record BaselineGap(int earlyTokens, double early, int lateTokens, double late) {
  /** A line through both, since the work of attention is in proportion to what it reads. */
  double at(int tokens) {
    double way = (tokens - earlyTokens) / (double) (lateTokens - earlyTokens);
    return early + Math.clamp(way, 0, 1) * (late - early);
  }
}
