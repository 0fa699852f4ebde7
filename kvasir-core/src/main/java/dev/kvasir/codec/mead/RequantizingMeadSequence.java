package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/** A sequence whose pages are requantized from rate to rate. */
final class RequantizingMeadSequence extends MeadSequence implements RequantizingSequence {
  RequantizingMeadSequence(MeadCodec codec, MemoryPool pool) {
    super(codec, pool);
  }

  RequantizingMeadSequence(MeadCodec codec, MeadState state, MemoryPool pool) {
    super(codec, state, pool);
  }

  private RequantizingMeadSequence(RequantizingMeadSequence parent) {
    super(parent);
  }

  @Override
  public byte[] serializeState() {
    return currentState().serializeRequantizing(codec());
  }

  @Override
  public int level(int layer) {
    return levels()[layer];
  }

  @Override
  public void setLevel(int layer, int level) {
    levels()[layer] = level;
  }

  @Override
  public int level(Page page) {
    return switch ((PreRopePage) page) {
      case MeadPage quantized -> quantized.rate().level();
      case TokenIdPage free -> 0;
    };
  }

  @Override
  public Page requantize(SharedArena memory, int layer, Page page, int level) {
    return new MeadPageRequantizer(codec())
        .requantized(memory, (MeadPage) page, codec().rates().get(level));
  }

  /**
   * Allocates ids apart from the page: they outlive a requantized first-layer page and must not
   * keep its memory alive.
   */
  @Override
  BlockTokenIds newTokenIds(SharedArena memory, int position) {
    SharedArena apart = memory.split(BlockTokenIds.BYTES);
    try {
      return new BlockTokenIds(apart, position);
    } finally {
      apart.release();
    }
  }

  @Override
  public RequantizingMeadSequence fork() {
    return new RequantizingMeadSequence(this);
  }
}
