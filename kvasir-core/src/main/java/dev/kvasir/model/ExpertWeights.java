package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import java.util.List;
import java.util.Optional;

/**
 * A feed-forward layer that routes every token to a few experts.
 *
 * @param correction added to expert scores for selection only, not to their weights; may be empty
 */
public record ExpertWeights(
    Projection router, // (experts, hidden)
    float[] correction, // (experts)
    List<GatedWeights> experts,
    Optional<SharedExpert> shared)
    implements FeedForwardWeights {
  /** For routers without a score correction. */
  static final float[] NO_CORRECTION = {};

  /** Does nothing: the bias of an expert is weighted with its output. */
  @Override
  public void addOutputBias(Kernels kernels, float[] out, int at) {}

  @Override
  public long bytes() {
    return router.bytes()
        + (long) correction.length * Float.BYTES
        + experts.stream().mapToLong(GatedWeights::bytes).sum()
        + shared.map(SharedExpert::bytes).orElse(0L);
  }
}
