package dev.kvasir.model;

/** Attention weights of a layer, or those of a recurrent layer. */
public sealed interface AttentionWeights
    permits MultiHeadWeights,
        QueryWeights,
        LatentWeights,
        ShortConvWeights,
        DeltaNetWeights,
        Mamba2Weights,
        NoAttention {
  /** Returns the projection from the outputs of all heads to the residual stream. */
  Projection output();

  long bytes();
}
