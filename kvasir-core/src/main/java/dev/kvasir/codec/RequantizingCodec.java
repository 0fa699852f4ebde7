package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;

/**
 * A codec whose pages can be requantized to fewer bits, level by level, down to a floor for each
 * layer. Level 0 has the most bits.
 */
public interface RequantizingCodec extends PageCodec {
  @Override
  RequantizingSequence newSequence(MemoryPool pool);

  @Override
  default RequantizingSequence newSequence() {
    return newSequence(MemoryPool.unlimited());
  }

  @Override
  RequantizingSequence resumeSequence(MemoryPool pool, byte[] state);

  /** Returns the level with the fewest bits that a layer's pages may have. */
  int floorLevel(int layer);

  /** Returns the bytes of a layer's page at a level. */
  long pageBytes(int layer, int level);

  /** Returns the bytes of codes in such a page. */
  long codeBytes(int layer, int level);
}
