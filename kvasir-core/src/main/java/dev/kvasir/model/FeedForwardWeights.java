package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** Feed-forward weights of a layer. */
public sealed interface FeedForwardWeights
    permits GatedWeights, UngatedWeights, ExpertWeights, DenseAndExpertWeights, NoFeedForward {
  /** Adds the bias of the last projection to one row of outputs. */
  void addOutputBias(Kernels kernels, float[] out, int at);

  long bytes();
}
