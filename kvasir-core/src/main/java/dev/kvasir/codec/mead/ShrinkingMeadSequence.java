package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/** A sequence whose pages shrink from rate to rate. */
final class ShrinkingMeadSequence extends MeadSequence implements ShrinkingSequence {
  ShrinkingMeadSequence(MeadCodec codec, MemoryPool pool) {
    super(codec, pool);
  }

  ShrinkingMeadSequence(MeadCodec codec, MeadState state, MemoryPool pool) {
    super(codec, state, pool);
  }

  private ShrinkingMeadSequence(ShrinkingMeadSequence parent) {
    super(parent);
  }

  @Override
  public byte[] state() {
    return kept().shrinkingForm(codec());
  }

  @Override
  public int level(int layer) {
    return levels()[layer];
  }

  @Override
  public void moveTo(int layer, int level) {
    levels()[layer] = level;
  }

  @Override
  public int level(Page page) {
    return switch ((TurningPage) page) {
      case MeadPage coded -> coded.rate().level();
      case TokenPage free -> 0;
    };
  }

  @Override
  public Page shrunk(SharedArena memory, Page page, int level) {
    return new Recoding(codec()).recoded(memory, (MeadPage) page, codec().rates().get(level));
  }

  /** Ids outlive a page of the first layer that shrinks, and must not hold its memory. */
  @Override
  BlockTokens newTokens(SharedArena memory, int position) {
    SharedArena apart = memory.apart(BlockTokens.BYTES);
    try {
      return new BlockTokens(apart, position);
    } finally {
      apart.release();
    }
  }

  @Override
  public ShrinkingMeadSequence fork() {
    return new ShrinkingMeadSequence(this);
  }
}
