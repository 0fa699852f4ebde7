package dev.kvasir.model;

import dev.kvasir.kernel.Matrix;
import java.util.List;
import java.util.Optional;

/**
 * Weights of multi-head latent attention in absorbed form: the per-head key and value projections
 * are applied to queries and outputs instead of latents.
 *
 * @param queryLatent down projection of queries; empty if they come from the hidden state
 * @param keyValue projection to the latent and the rotary key channels
 * @param toLatent by query head, from non-rotary channels to the latent // (rank, nonRotary)
 * @param fromLatent by query head, from its attention output to its output // (output, rank)
 */
public record LatentWeights(
    Optional<QueryLatent> queryLatent,
    Projection query, // (queryHeads * (nonRotary + rotary), hidden or queryRank)
    Projection keyValue, // (rank + rotary, hidden)
    float[] latentNorm, // (rank)
    List<Matrix> toLatent,
    List<Matrix> fromLatent,
    Projection output) // (hidden, queryHeads * output)
    implements AttentionWeights {

  /** Low-rank projection of queries. */
  public record QueryLatent(
      Projection down, // (queryRank, hidden)
      float[] norm) { // (queryRank)
    long bytes() {
      return down.bytes() + (long) norm.length * Float.BYTES;
    }
  }

  public LatentWeights {
    toLatent = List.copyOf(toLatent);
    fromLatent = List.copyOf(fromLatent);
  }

  @Override
  public long bytes() {
    return queryLatent.map(QueryLatent::bytes).orElse(0L)
        + query.bytes()
        + keyValue.bytes()
        + (long) latentNorm.length * Float.BYTES
        + toLatent.stream().mapToLong(Matrix::bytes).sum()
        + fromLatent.stream().mapToLong(Matrix::bytes).sum()
        + output.bytes();
  }
}
