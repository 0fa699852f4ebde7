package dev.kvasir.model;

import dev.kvasir.kernel.Matrix;
import java.util.List;
import java.util.Optional;

/**
 * Attention to latent vectors: what would make a key and a value for each head out of a latent is
 * multiplied with queries and outputs instead.
 *
 * @param queryLatent what queries are made of, where that is not the hidden state
 * @param keyValue latents and the channels that turn
 * @param toLatent by query head, from its plain channels to the latent's // (rank, plain)
 * @param fromLatent by query head, from what it mixed of latents to its output // (output, rank)
 */
public record LatentWeights(
    Optional<QueryLatent> queryLatent,
    Projection query, // (queryHeads * (plain + rotary), hidden or queryRank)
    Projection keyValue, // (rank + rotary, hidden)
    float[] latentNorm, // (rank)
    List<Matrix> toLatent,
    List<Matrix> fromLatent,
    Projection output) // (hidden, queryHeads * output)
    implements AttentionWeights {

  /** Queries through fewer channels than the hidden state has. */
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
