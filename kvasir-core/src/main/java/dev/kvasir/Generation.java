package dev.kvasir;

import dev.kvasir.cache.PackingTime;

/**
 * What came of a generation.
 *
 * @param promptTokens tokens read for it, without those that the session held before
 * @param packing that part of its time which went into packing keys and values
 */
public record Generation(
    String text,
    int promptTokens,
    int generatedTokens,
    long promptNanos,
    long generationNanos,
    PackingTime packing,
    Finish finish) {

  /** Why it ended. */
  public enum Finish {
    /** The model said that its text is over. */
    END_OF_TEXT,
    /** As many tokens as were asked for. */
    MAX_TOKENS,
    /** The context is full. */
    CONTEXT_FULL,
    /** The cache's budget is used up. */
    CACHE_FULL,
    /** The listener asked to stop. */
    STOPPED
  }

  public double promptTokensPerSecond() {
    return promptNanos == 0 ? 0 : promptTokens * 1e9 / promptNanos;
  }

  public double generatedTokensPerSecond() {
    return generationNanos == 0 ? 0 : generatedTokens * 1e9 / generationNanos;
  }
}
