package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;

/** The tokens of a page, by how much depends on them: the fewer of them, the more bits each. */
enum SaliencyTier {
  LOW(64),
  MEDIUM(48),
  HIGH(16);

  /** All of them, without a new array each time. */
  private static final SaliencyTier[] ALL = values();

  /** How many classes there are. */
  static final int COUNT = ALL.length;

  private final int tokens;

  SaliencyTier(int tokens) {
    this.tokens = tokens;
  }

  static SaliencyTier of(int ordinal) {
    return ALL[ordinal];
  }

  /** Tokens of a page that are in it. */
  int tokens() {
    return tokens;
  }

  /** The part of a page's tokens that is in it. */
  double fraction() {
    return (double) tokens / Page.TOKENS;
  }

  /** Rows of a page before those of this class. */
  int firstRow() {
    return this == LOW ? 0 : this == MEDIUM ? LOW.tokens : LOW.tokens + MEDIUM.tokens;
  }
}
