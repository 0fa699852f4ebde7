package dev.kvasir.codec;

/**
 * Blocks that are about to be sealed one after another: a step of a long prompt lets many leave the
 * window at once. Vectors are expanded only where they are asked for, since a whole prompt of them
 * in full precision may not fit.
 */
public interface SealingRun {
  /** Of the first token of the first block. */
  int position();

  /** How many blocks of {@link dev.kvasir.codec.Page#TOKENS} tokens there are. */
  int blocks();

  /**
   * The vectors of a block in one layer.
   *
   * @param keys (kvHeads, tokens, keyDim), rotated to their positions
   * @param values (kvHeads, tokens, valueDim); nothing is set where they are part of keys
   */
  void expand(int layer, int block, float[] keys, float[] values);
}
