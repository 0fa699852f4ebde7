package dev.kvasir.model;

/** Attention of a layer over the rows of a step, or what a recurrent layer has in its place. */
sealed interface AttentionPass
    permits MultiHeadPass, LatentPass, ShortConvPass, DeltaNetPass, Mamba2Pass {
  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int rows);

  /**
   * @param normed normalized input of the layer // (rows, hidden)
   * @param update output without the bias of the output projection // (rows, hidden)
   */
  void run(int layer, LayerWeights weights, float[] normed, float[] update);
}
