package dev.kvasir.model;

/**
 * Attention whose heads have keys and values of their own.
 *
 * @param sinks for each query head a score that takes its share and gives nothing, or empty
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
  /** Nothing but the tokens takes a share. */
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
