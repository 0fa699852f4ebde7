package dev.kvasir.model;

/** Attention of a layer over the rows of a step. */
sealed interface AttentionPass permits MultiHeadPass, LatentPass {
  /** Makes room for so many rows; what was there is lost. */
  void ensureCapacity(int rows);

  /**
   * @param normed what the layer attends with // (rows, hidden)
   * @param update what it gives, without the bias of its last product // (rows, hidden)
   */
  void run(int layer, LayerWeights weights, float[] normed, float[] update);
}
