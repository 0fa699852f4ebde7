package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;

/**
 * Tiers of a page's tokens by saliency: the higher the tier, the fewer tokens and the more bits
 * each.
 */
enum SaliencyTier {
  LOW(64),
  MEDIUM(48),
  HIGH(16);

  /** Cached values, to avoid a new array per call. */
  private static final SaliencyTier[] ALL = values();

  static final int COUNT = ALL.length;

  private final int tokens;

  SaliencyTier(int tokens) {
    this.tokens = tokens;
  }

  static SaliencyTier of(int ordinal) {
    return ALL[ordinal];
  }

  /** Returns the number of a page's tokens in this tier. */
  int tokens() {
    return tokens;
  }

  /** Returns the fraction of a page's tokens in this tier. */
  double fraction() {
    return (double) tokens / Page.TOKENS;
  }

  /** Returns the number of rows of a page before those of this tier. */
  int firstRow() {
    return this == LOW ? 0 : this == MEDIUM ? LOW.tokens : LOW.tokens + MEDIUM.tokens;
  }
}
