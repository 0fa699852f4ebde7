package dev.kvasir.cache;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.SharedMapping;
import java.util.Optional;

/**
 * The contents of a cache as bytes that outlive the process: blocks of {@link
 * KvCache#TOKENS_PER_PAGE} tokens, and a residual part. Blocks do not change while the sequence
 * grows, unless pages are requantized or layers evict theirs. A snapshot identifies neither the
 * model and specification nor the tokens; the caller must store those.
 */
public interface CacheSnapshot {
  int length();

  /** Returns the number of whole blocks; the first one follows the sinks. */
  int blocks();

  /** Returns the position after a block. */
  int end(int index);

  /** Returns a block: the pages of all layers that hold it, or its vectors if it is dense. */
  byte[] block(int index);

  /** Returns the same block to be read in place. Blocks are read in order, once each. */
  default Snapshot blockToRead(int index) {
    return Snapshot.of(block(index));
  }

  /**
   * Returns the mapping that off-heap blocks lie in. They may stay there after reading, for as long
   * as the mapping is retained.
   */
  default Optional<SharedMapping> mapping() {
    return Optional.empty();
  }

  /**
   * Returns the same snapshot with unchecked blocks, for caches that check them before the first
   * step.
   */
  default Optional<UncheckedSnapshot> unchecked() {
    return Optional.empty();
  }

  /**
   * Returns whether a block's bytes never change as the sequence grows: its pages are neither
   * requantized nor evicted, nor become cold.
   */
  default boolean hasImmutableBlocks() {
    return false;
  }

  /** Returns the sinks, the tokens after the last block, and the method's state of the sequence. */
  byte[] residual();

  /** Returns the same bytes to be read in place. */
  default Snapshot residualToRead() {
    return Snapshot.of(residual());
  }
}
