package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** The feed-forward part of a layer that has only attention or a recurrent state. */
public record NoFeedForward() implements FeedForwardWeights {
  @Override
  public void addOutputBias(Kernels kernels, float[] out, int at) {
    throw new IllegalStateException("this layer has no feed-forward part");
  }

  @Override
  public long bytes() {
    return 0;
  }
}
