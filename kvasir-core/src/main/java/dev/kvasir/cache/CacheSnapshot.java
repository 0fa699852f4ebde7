package dev.kvasir.cache;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.SharedMapping;
import java.util.Optional;

/**
 * What a cache holds as bytes that outlive the process, in pieces: blocks of {@link
 * KvCache#TOKENS_PER_PAGE} tokens that do not change while the sequence grows, but for pages that
 * shrink and layers that let go of theirs, and the rest. It says neither which model and spec it
 * belongs to nor which tokens it is of: whoever stores it must.
 */
public interface CacheSnapshot {
  /** Positions that it holds. */
  int length();

  /** Whole blocks, the first of which follows the sinks. */
  int blocks();

  /** The position behind a block. */
  int end(int index);

  /** A block's pages of all layers that hold it, or its vectors where those are not packed. */
  byte[] block(int index);

  /** The same to be read where it lies. Blocks come in their order, once each. */
  default Snapshot blockToRead(int index) {
    return Snapshot.of(block(index));
  }

  /**
   * What blocks may stay in when they have been read, for as long as it is held: those that lie in
   * it and not on the heap.
   */
  default Optional<SharedMapping> mapping() {
    return Optional.empty();
  }

  /** The same with blocks that nobody has checked, for caches that check them when they begin. */
  default Optional<UncheckedSnapshot> unchecked() {
    return Optional.empty();
  }

  /**
   * Whether the bytes of a block stay what they are however the sequence grows: its pages neither
   * shrink nor are let go of, nor become old.
   */
  default boolean hasImmutableBlocks() {
    return false;
  }

  /** Sinks, tokens behind the last block, and what the method keeps of the sequence. */
  byte[] residual();

  /** The same to be read where it lies. */
  default Snapshot residualToRead() {
    return Snapshot.of(residual());
  }
}
