package dev.kvasir.cache;

import dev.kvasir.memory.SharedMapping;

/** A stored cache in a mapped file, whose blocks come as they lie there, unchecked. */
public interface UncheckedSnapshot extends CacheSnapshot {
  /** What holds on to it keeps the file mapped. */
  SharedMapping file();

  /** Their checksums, which hold on to neither the form nor the file. */
  BlockChecksums checksums();
}
