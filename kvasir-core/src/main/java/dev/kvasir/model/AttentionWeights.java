package dev.kvasir.model;

/** What a layer attends with. */
public sealed interface AttentionWeights permits MultiHeadWeights, LatentWeights {
  /** From the outputs of all heads back to the residual stream. */
  Projection output();

  long bytes();
}
