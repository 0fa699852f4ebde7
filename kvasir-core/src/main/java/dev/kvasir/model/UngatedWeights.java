package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** Weights of a feed-forward layer without gates, {@code down (max(0, up x)^2)}. */
public record UngatedWeights(
    Projection up, // (feedForward, hidden)
    Projection down) // (hidden, feedForward)
    implements FeedForwardWeights {
  /** Returns the feed-forward width. */
  int width() {
    return up.matrix().rows();
  }

  /** Adds the bias to one row and applies the activation. */
  void activate(Kernels kernels, float[] ups, int at) {
    up.addBias(kernels, ups, at);
    for (int i = at; i < at + width(); i++) {
      float positive = Math.max(0, ups[i]);
      ups[i] = positive * positive;
    }
  }

  @Override
  public void addOutputBias(Kernels kernels, float[] out, int at) {
    down.addBias(kernels, out, at);
  }

  @Override
  public long bytes() {
    return up.bytes() + down.bytes();
  }
}
