package dev.kvasir.cache;

import dev.kvasir.kernel.Kernels;

/**
 * Consecutive tokens of a sequence in the layers of a group. Forks share the contents of blocks;
 * shared contents are never written.
 */
sealed interface Block permits DenseBlock, QuantizedBlock {
  void expandKeys(Kernels kernels, int layer, int kvHead, int tokens, float[] out);

  void expandValues(Kernels kernels, int layer, int kvHead, int tokens, float[] out);

  /** Returns the block for another sequence with the same tokens. */
  Block share();

  /** Releases this sequence's reference; the last one frees the memory. */
  void release();
}
