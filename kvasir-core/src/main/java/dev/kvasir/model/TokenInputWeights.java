package dev.kvasir.model;

import dev.kvasir.kernel.Matrix;

/**
 * Weights of the embeddings that a token has in every layer: {@code (norm(projection x) +
 * embedding) / sqrt 2}, where x is its embedding at the first layer.
 */
public record TokenInputWeights(
    Matrix embedding, // (vocabulary, layers * channels)
    Matrix projection, // (layers * channels, hidden)
    float[] norm) { // (channels)
  long bytes() {
    return embedding.bytes() + projection.bytes() + (long) norm.length * Float.BYTES;
  }
}
