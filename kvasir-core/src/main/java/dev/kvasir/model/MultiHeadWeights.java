package dev.kvasir.model;

/**
 * Weights of multi-head or grouped-query attention.
 *
 * @param sinks score of a learned attention sink for each query head; may be empty
 */
public record MultiHeadWeights(
    Projection query, // (queryHeads * keyDim, hidden)
    Projection key, // (kvHeads * keyDim, hidden)
    Projection value, // (kvHeads * valueDim, hidden)
    HeadNorm queryNorm,
    HeadNorm keyNorm,
    float[] sinks,
    Projection output) // (hidden, queryHeads * valueDim)
    implements AttentionWeights {
  /** For attention without learned sinks. */
  public static final float[] NO_SINKS = {};

  @Override
  public long bytes() {
    return query.bytes()
        + key.bytes()
        + value.bytes()
        + queryNorm.bytes()
        + keyNorm.bytes()
        + (long) sinks.length * Float.BYTES
        + output.bytes();
  }
}
