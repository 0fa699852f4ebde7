package dev.kvasir.model;

/** Attention weights of a layer. */
public sealed interface AttentionWeights permits MultiHeadWeights, LatentWeights {
  /** Returns the projection from the outputs of all heads to the residual stream. */
  Projection output();

  long bytes();
}
