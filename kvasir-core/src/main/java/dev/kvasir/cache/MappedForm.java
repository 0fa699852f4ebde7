package dev.kvasir.cache;

import dev.kvasir.memory.SharedMapping;

/**
 * A stored cache in a mapped file, whose blocks come as they lie there, unchecked. Any thread may
 * check them.
 */
public interface MappedForm extends CacheForm {
  /** What holds on to it keeps the file mapped. */
  SharedMapping mapping();

  /**
   * Refuses a block of which any bit has changed.
   *
   * @throws dev.kvasir.error.InvalidInputException in one sentence
   */
  void check(int index);
}
