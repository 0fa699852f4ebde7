package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;

/**
 * A method whose sealed pages can be made narrower later, level by level, down to a floor of each
 * layer. Level 0 is the widest.
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

  /** The level at which a layer's pages are as narrow as they may get. */
  int floorLevel(int layer);

  /** Bytes of a layer's page at a level. */
  long pageBytes(int layer, int level);

  /** Those of its bytes that are codes. */
  long codeBytes(int layer, int level);
}
