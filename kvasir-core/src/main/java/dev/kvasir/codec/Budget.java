package dev.kvasir.codec;

import dev.kvasir.kernel.Crew;

/**
 * Bytes that a cache may take, all in: codes, scales, window, sinks.
 *
 * @param spec the cache as the user typed it
 * @param bytes 0 for the least that holds {@code tokens}
 * @param tokens 0 where bytes are given
 * @param step which pages become narrower when they do not fit
 * @param crew threads that make pages narrower
 */
public record Budget(String spec, long bytes, int tokens, ShrinkStep step, Crew crew) {
  public static Budget of(String spec, long bytes, ShrinkStep step, Crew crew) {
    return new Budget(spec, bytes, 0, step, crew);
  }

  /** The least that holds a sequence of so many tokens. */
  public static Budget leastFor(String spec, int tokens, ShrinkStep step, Crew crew) {
    return new Budget(spec, 0, tokens, step, crew);
  }

  public boolean isLeast() {
    return tokens > 0;
  }
}
