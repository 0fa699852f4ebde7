package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/**
 * A dense feed-forward layer next to a mixture of experts, each with norms of its own: {@code
 * denseOutNorm(dense(norm x)) + expertOutNorm(experts(expertNorm x))}. The router reads {@code
 * routerNorm x}.
 */
public record DenseAndExpertWeights(
    GatedWeights dense,
    float[] denseOutNorm, // (hidden)
    float[] routerNorm, // (hidden)
    float[] expertNorm, // (hidden)
    ExpertWeights experts,
    float[] expertOutNorm) // (hidden)
    implements FeedForwardWeights {
  /** Does nothing: neither part has a bias. */
  @Override
  public void addOutputBias(Kernels kernels, float[] out, int at) {}

  @Override
  public long bytes() {
    long norms = denseOutNorm.length + routerNorm.length + expertNorm.length + expertOutNorm.length;
    return dense.bytes() + experts.bytes() + norms * Float.BYTES;
  }
}
