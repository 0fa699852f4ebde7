package dev.kvasir.cache;

/**
 * Consecutive tokens of a sequence in the layers of a group. Forks share the contents of blocks;
 * shared contents are never written.
 */
sealed interface Block permits DenseBlock, QuantizedBlock {
  /** Returns a layer's keys and values. */
  BlockView view(int layer);

  /** Returns the block for another sequence with the same tokens. */
  Block share();

  /** Releases this sequence's reference; the last one frees the memory. */
  void release();
}
