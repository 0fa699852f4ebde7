package dev.kvasir.cache;

/**
 * The checksums of stored blocks where they lie, for as long as their file is mapped. Any thread
 * may compare them.
 */
public interface BlockChecksums {
  int blocks();

  /**
   * Refuses a block of which any bit has changed.
   *
   * @throws dev.kvasir.error.InvalidInputException in one sentence
   */
  void verify(int index);
}
