package dev.kvasir.bench;

/**
 * Milliseconds between two tokens of a single stream, by its length. Attention takes longer with
 * more context, so the baseline grows while a stream runs.
 *
 * @param early at a length of {@code earlyTokens}
 * @param late at a length of {@code lateTokens}, which is larger
 */
record BaselineGap(int earlyTokens, double early, int lateTokens, double late) {
  /** Interpolates linearly, since attention time is proportional to the context. */
  double at(int tokens) {
    double way = (tokens - earlyTokens) / (double) (lateTokens - earlyTokens);
    return early + Math.clamp(way, 0, 1) * (late - early);
  }
}
