package dev.kvasir.codec.ranked;

/** How the attention that a token has received counts. */
public enum AttentionAggregation {
  /** All of it: the earlier a token, the more queries it has met. */
  SUM,

  /** Divided by the queries that the token has met. */
  MEAN
}
