package dev.kvasir.cache;

/** The checksums of stored blocks in a mapped file. Thread-safe while the file is mapped. */
public interface BlockChecksums {
  int blocks();

  /**
   * Rejects a block if any bit has changed.
   *
   * @throws dev.kvasir.error.InvalidInputException with a message of one sentence
   */
  void verify(int index);
}
