package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** What a layer does to each token by itself. */
public sealed interface FeedForwardWeights permits GatedWeights, ExpertWeights {
  /** Adds to one row of outputs what is added after the last product. */
  void addOutputBias(Kernels kernels, float[] out, int at);

  long bytes();
}
