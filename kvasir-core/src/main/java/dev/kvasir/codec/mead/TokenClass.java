package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;

/** The tokens of a page, by how much depends on them: the fewer of them, the more bits each. */
enum TokenClass {
  MOST(64),
  SOME(48),
  FEW(16);

  /** All of them, without a new array each time. */
  private static final TokenClass[] ALL = values();

  /** How many classes there are. */
  static final int COUNT = ALL.length;

  private final int tokens;

  TokenClass(int tokens) {
    this.tokens = tokens;
  }

  static TokenClass of(int ordinal) {
    return ALL[ordinal];
  }

  /** Tokens of a page that are in it. */
  int tokens() {
    return tokens;
  }

  /** The part of a page's tokens that is in it. */
  double share() {
    return (double) tokens / Page.TOKENS;
  }

  /** Rows of a page before those of this class. */
  int firstRow() {
    return this == MOST ? 0 : this == SOME ? MOST.tokens : MOST.tokens + SOME.tokens;
  }
}
