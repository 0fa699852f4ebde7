package dev.kvasir.codec.mead;

import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.memory.MemoryPool;

/**
 * Mead whose pages are requantized to lower rates as they age.
 *
 * @param mead codec with several rates
 */
record RequantizingMeadCodec(MeadCodec mead) implements RequantizingCodec {
  @Override
  public RequantizingSequence newSequence(MemoryPool pool) {
    return new RequantizingMeadSequence(mead, pool);
  }

  @Override
  public RequantizingSequence resumeSequence(MemoryPool pool, byte[] state) {
    return MeadState.resumedRequantizing(mead, pool, state);
  }

  /** Returns the first level whose pages are as small as pages of this layer get. */
  @Override
  public int floorLevel(int layer) {
    int level = mead.rates().size() - 1;
    while (level > 0 && pageBytes(layer, level - 1) == pageBytes(layer, level)) {
      level--;
    }
    return level;
  }

  @Override
  public long pageBytes(int layer, int level) {
    return mead.pageBytes(layer, level);
  }

  @Override
  public long codeBytes(int layer, int level) {
    return mead.codeBytes(layer, level);
  }

  @Override
  public long pageBytes() {
    return mead.pageBytes();
  }

  @Override
  public long codeBytes() {
    return mead.codeBytes();
  }

  @Override
  public long pageBytes(int layer) {
    return mead.pageBytes(layer);
  }

  @Override
  public long codeBytes(int layer) {
    return mead.codeBytes(layer);
  }

  @Override
  public long tableBytes(int quantizedBlocks) {
    return mead.tableBytes(quantizedBlocks);
  }

  @Override
  public long sharedBytes() {
    return mead.sharedBytes();
  }
}
