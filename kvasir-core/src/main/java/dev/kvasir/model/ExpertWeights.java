package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Matrix;
import java.util.List;
import java.util.Optional;

/**
 * A feed-forward layer that routes every token to a few experts.
 *
 * @param correction added to expert scores for selection only, not to their weights; may be empty
 * @param scales factors of the experts' outputs; may be empty
 * @param experts all with gates, or all without
 * @param latent projections around the routed experts, if these read and write narrower vectors
 */
public record ExpertWeights(
    Projection router, // (experts, hidden)
    float[] correction, // (experts)
    float[] scales, // (experts)
    List<FeedForwardWeights> experts,
    Optional<SharedExpert> shared,
    Optional<LatentVectors> latent)
    implements FeedForwardWeights {
  /**
   * Projections of a token's vector to the one that routed experts read, and of their weighted sum
   * back.
   */
  public record LatentVectors(Matrix down, Matrix up) { // (latent, hidden), (hidden, latent)
    private long bytes() {
      return down.bytes() + up.bytes();
    }
  }

  /** For routers without a score correction, and for experts without factors. */
  static final float[] NONE = {};

  /**
   * Returns an expert with gates.
   *
   * @throws InvalidInputException if experts have none
   */
  public GatedWeights gated(int expert) {
    if (experts.get(expert) instanceof GatedWeights weights) {
      return weights;
    }
    throw new InvalidInputException("an expert of this layer has no gates; expected gated experts");
  }

  /** Does nothing: the bias of an expert is weighted with its output. */
  @Override
  public void addOutputBias(Kernels kernels, float[] out, int at) {}

  @Override
  public long bytes() {
    return router.bytes()
        + (long) (correction.length + scales.length) * Float.BYTES
        + experts.stream().mapToLong(FeedForwardWeights::bytes).sum()
        + shared.map(SharedExpert::bytes).orElse(0L)
        + latent.map(LatentVectors::bytes).orElse(0L);
  }
}
