package dev.kvasir.codec.mead;

import java.util.Locale;

/** What is subtracted from a vector before quantization, as typed in {@code tables=}. */
public enum TableKind {
  /** A row for each token id: the typical vector of that token. */
  TOKENS,

  /** The nearest of a few rows of each head; its index is stored. */
  CENTROIDS,

  /** The mean of all tokens. */
  OFF;

  /** Returns the profile part with the tables of this kind. */
  public String part() {
    return "mead:" + name().toLowerCase(Locale.ROOT);
  }
}
