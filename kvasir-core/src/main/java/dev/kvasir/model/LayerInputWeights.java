package dev.kvasir.model;

/**
 * Weights of a layer that add an embedding of the token to its output: {@code x += norm(projection
 * (gelu(gate x) * input))}.
 */
public record LayerInputWeights(
    Projection gate, // (channels, hidden)
    Projection projection, // (hidden, channels)
    float[] norm) { // (hidden)
  long bytes() {
    return gate.bytes() + projection.bytes() + (long) norm.length * Float.BYTES;
  }
}
