package dev.kvasir.model;

/**
 * Weights of multi-head or grouped-query attention.
 *
 * @param value the key projection itself if values are keys before their norm and RoPE
 * @param sinks score of a learned attention sink for each query head; may be empty
 */
public record MultiHeadWeights(
    Projection query, // (queryHeads * keyDim, hidden)
    Projection key, // (kvHeads * keyDim, hidden)
    Projection value, // (kvHeads * valueDim, hidden)
    HeadNorm queryNorm,
    HeadNorm keyNorm,
    HeadNorm valueNorm,
    float[] sinks,
    Projection output) // (hidden, queryHeads * valueDim)
    implements AttentionWeights {
  /** For attention without learned sinks. */
  public static final float[] NO_SINKS = {};

  /** Returns whether values are the projected keys. */
  boolean hasValuesOfKeys() {
    return value == key;
  }

  @Override
  public long bytes() {
    return query.bytes()
        + key.bytes()
        + (hasValuesOfKeys() ? 0 : value.bytes())
        + queryNorm.bytes()
        + keyNorm.bytes()
        + valueNorm.bytes()
        + (long) sinks.length * Float.BYTES
        + output.bytes();
  }
}
