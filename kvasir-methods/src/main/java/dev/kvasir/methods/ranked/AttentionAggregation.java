package dev.kvasir.methods.ranked;

/** How the attention that a token received is aggregated over queries. */
public enum AttentionAggregation {
  /** The sum, which favours early tokens: more queries see them. */
  SUM,

  /** The sum divided by the number of queries that see the token. */
  MEAN
}
