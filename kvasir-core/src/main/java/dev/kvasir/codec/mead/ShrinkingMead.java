package dev.kvasir.codec.mead;

import dev.kvasir.codec.ShrinkingCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.memory.MemoryPool;

/**
 * The method with pages that shrink with age, from rate to rate.
 *
 * @param mead with several rates
 */
record ShrinkingMead(MeadCodec mead) implements ShrinkingCodec {
  @Override
  public ShrinkingSequence begin(MemoryPool pool) {
    return new ShrinkingMeadSequence(mead, pool);
  }

  @Override
  public ShrinkingSequence resume(MemoryPool pool, byte[] state) {
    return MeadState.resumedShrinking(mead, pool, state);
  }

  /** The first level of those whose pages are as small as they get. */
  @Override
  public int floor(int layer) {
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
  public long tableBytes(int sealedBlocks) {
    return mead.tableBytes(sealedBlocks);
  }

  @Override
  public long sharedBytes() {
    return mead.sharedBytes();
  }
}
