package dev.kvasir.cache;

import dev.kvasir.memory.SharedMapping;

/** A stored cache in a mapped file, whose blocks come as they lie there, unchecked. */
public interface UncheckedForm extends CacheForm {
  /** What holds on to it keeps the file mapped. */
  SharedMapping file();

  /** Their checksums, which hold on to neither the form nor the file. */
  BlockChecks checks();
}
