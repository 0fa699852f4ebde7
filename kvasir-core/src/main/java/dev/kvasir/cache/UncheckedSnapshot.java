package dev.kvasir.cache;

import dev.kvasir.memory.SharedMapping;

/** A stored cache in a mapped file, whose blocks are read in place without a check. */
public interface UncheckedSnapshot extends CacheSnapshot {
  /** Returns the mapping; retaining it keeps the file mapped. */
  SharedMapping file();

  /** Returns the checksums of the blocks, which retain neither the snapshot nor the file. */
  BlockChecksums checksums();
}
