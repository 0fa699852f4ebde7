package dev.kvasir.codec;

/**
 * Consecutive blocks that are about to be quantized. In a long prefill step, many blocks leave the
 * residual window at once. Vectors are converted to floats on demand, because those of a whole
 * prompt may not fit in memory.
 */
public interface QuantizationBatch {
  /** Returns the position of the first token. */
  int position();

  /** Returns the number of blocks of {@link Page#TOKENS} tokens. */
  int blocks();

  /**
   * Returns whether a layer will be quantized. A layer whose attention window is dense anyway is
   * not.
   */
  default boolean quantizes(int layer) {
    return true;
  }

  /**
   * Reads the vectors of a block in a layer that will be quantized.
   *
   * @param keys (kvHeads, tokens, keyDim), rotated to their positions
   * @param values (kvHeads, tokens, valueDim); unchanged if values are part of keys
   */
  void readBlock(int layer, int block, float[] keys, float[] values);
}
