package dev.kvasir.cache;

import dev.kvasir.kernel.Kernels;

/**
 * Consecutive tokens of a sequence in the layers of a group. Forks of a sequence share what blocks
 * hold: that which more than one sequence holds is not written any more.
 */
sealed interface Block permits DenseBlock, QuantizedBlock {
  void expandKeys(Kernels kernels, int layer, int kvHead, int tokens, float[] out);

  void expandValues(Kernels kernels, int layer, int kvHead, int tokens, float[] out);

  /** The block for another sequence that holds the same tokens. */
  Block share();

  /** A sequence lets go of it; the last one frees it. */
  void release();
}
