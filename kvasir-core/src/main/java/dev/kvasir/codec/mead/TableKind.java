package dev.kvasir.codec.mead;

import java.util.Locale;

/** What is taken off a vector before it is coded, as typed {@code tables=}. */
public enum TableKind {
  /** A row for each token id: what is usual where that token stands. */
  TOKENS,

  /** The nearest of a few rows of each head; which one is stored. */
  CENTROIDS,

  /** The mean of all tokens. */
  OFF;

  /** The part of a profile that holds what was learned with it. */
  public String part() {
    return "mead:" + name().toLowerCase(Locale.ROOT);
  }
}
