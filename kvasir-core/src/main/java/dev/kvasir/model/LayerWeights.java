package dev.kvasir.model;

/**
 * One layer of the decoder.
 *
 * @param window positions that a query of this layer sees, itself included; {@link
 *     Integer#MAX_VALUE} for all
 */
public record LayerWeights(
    float[] attentionNorm, // (hidden)
    Projection query, // (queryHeads * keyDim, hidden)
    Projection key, // (kvHeads * keyDim, hidden)
    Projection value, // (kvHeads * valueDim, hidden)
    HeadNorm queryNorm,
    HeadNorm keyNorm,
    Projection output, // (hidden, queryHeads * valueDim)
    float[] feedForwardNorm, // (hidden)
    Projection gate, // (feedForward, hidden)
    Projection up, // (feedForward, hidden)
    Projection down, // (hidden, feedForward)
    int window) {

  long bytes() {
    long norms = (long) (attentionNorm.length + feedForwardNorm.length) * Float.BYTES;
    return norms
        + queryNorm.bytes()
        + keyNorm.bytes()
        + query.bytes()
        + key.bytes()
        + value.bytes()
        + output.bytes()
        + gate.bytes()
        + up.bytes()
        + down.bytes();
  }
}
