package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** {@code down (activation(gate x) * up x)}. */
public record GatedWeights(
    Projection gate, // (feedForward, hidden)
    Projection up, // (feedForward, hidden)
    Projection down, // (hidden, feedForward)
    Activation activation)
    implements FeedForwardWeights {
  @Override
  public void addOutputBias(Kernels kernels, float[] out, int at) {
    down.addBias(kernels, out, at);
  }

  @Override
  public long bytes() {
    return gate.bytes() + up.bytes() + down.bytes();
  }
}
