package dev.kvasir.codec;

/**
 * Blocks that are about to be sealed one after another: a step of a long prompt lets many leave the
 * window at once. Vectors are expanded only where they are asked for, since a whole prompt of them
 * in full precision may not fit.
 */
public interface QuantizationBatch {
  /** Of the first token of the first block. */
  int position();

  /** How many blocks of {@link dev.kvasir.codec.Page#NOMINAL_TOKENS} tokens there are. */
  int blocks();

  /** Whether a layer is going to be packed: one whose window is dense anyway is not. */
  default boolean quantizes(int layer) {
    return true;
  }

  /**
   * The vectors of a block in one layer that is going to be packed.
   *
   * @param keys (kvHeads, tokens, keyDim), rotated to their positions
   * @param values (kvHeads, tokens, valueDim); nothing is set where they are part of keys
   */
  void readBlock(int layer, int block, float[] keys, float[] values);
}
