package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** {@code down (activation(gate x) * up x)}. */
public record GatedWeights(
    Projection gate, // (feedForward, hidden)
    Projection up, // (feedForward, hidden)
    Projection down, // (hidden, feedForward)
    Activation activation)
    implements FeedForwardWeights {
  /** Rows of gate and up. */
  int width() {
    return gate.matrix().rows();
  }

  /** Makes one row of gates and what they let through the input of the last product. */
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
