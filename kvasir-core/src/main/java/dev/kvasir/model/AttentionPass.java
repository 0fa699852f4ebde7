package dev.kvasir.model;

/** Attention of a layer over the rows of a step. */
sealed interface AttentionPass permits MultiHeadPass, LatentPass {
  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int rows);

  /**
   * @param normed normalized input of the layer // (rows, hidden)
   * @param update output without the bias of the output projection // (rows, hidden)
   */
  void run(int layer, LayerWeights weights, float[] normed, float[] update);
}
