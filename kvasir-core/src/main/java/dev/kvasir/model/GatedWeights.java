package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** Weights of a gated feed-forward layer, {@code down (activation(gate x) * up x)}. */
public record GatedWeights(
    Projection gate, // (feedForward, hidden)
    Projection up, // (feedForward, hidden)
    Projection down, // (hidden, feedForward)
    Activation activation)
    implements FeedForwardWeights {
  /** Returns the feed-forward width. */
  int width() {
    return gate.matrix().rows();
  }

  /**
   * Adds biases to one row of gates and ups and applies the activation. The result is in {@code
   * gates}.
   */
  void activate(Kernels kernels, float[] gates, float[] ups, int at) {
    gate.addBias(kernels, gates, at);
    up.addBias(kernels, ups, at);
    activation.applyGate(kernels.rows(), gates, ups, at, width());
  }

  @Override
  public void addOutputBias(Kernels kernels, float[] out, int at) {
    down.addBias(kernels, out, at);
  }

  @Override
  public long bytes() {
    return gate.bytes() + up.bytes() + down.bytes();
  }
}
