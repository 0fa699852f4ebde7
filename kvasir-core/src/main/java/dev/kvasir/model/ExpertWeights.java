package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import java.util.List;
import java.util.Optional;

/**
 * A feed-forward part of which every token takes a few experts.
 *
 * @param correction added to each expert's score where experts are chosen, and not to its weight,
 *     or empty
 */
public record ExpertWeights(
    Projection router, // (experts, hidden)
    float[] correction, // (experts)
    List<GatedWeights> experts,
    Optional<SharedExpert> shared)
    implements FeedForwardWeights {
  /** Experts are chosen by their scores as they are. */
  static final float[] NO_CORRECTION = {};

  /** Nothing: an expert's bias counts by its weight. */
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
