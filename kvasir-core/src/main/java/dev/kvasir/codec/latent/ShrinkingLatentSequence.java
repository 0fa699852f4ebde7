package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.memory.SharedArena;

/** Latents of a sequence at their levels, beside channels that stay as wide as they are. */
final class ShrinkingLatentSequence extends LatentSequence implements ShrinkingSequence {
  /** The number of its state among stored ones. */
  static final int KIND = 49;

  private final ShrinkingSequence shrinking;

  ShrinkingLatentSequence(ShrinkingSequence latents, RotaryChannels rotary, int queryHeads) {
    super(latents, rotary, queryHeads);
    this.shrinking = latents;
  }

  private ShrinkingLatentSequence(ShrinkingSequence latents, LatentSequence like) {
    super(latents, like);
    this.shrinking = latents;
  }

  @Override
  public byte[] state() {
    return state(KIND, shrinking.state());
  }

  @Override
  public int level(int layer) {
    return shrinking.level(layer);
  }

  @Override
  public void moveTo(int layer, int level) {
    shrinking.moveTo(layer, level);
  }

  @Override
  public int level(Page page) {
    return shrinking.level(((LatentPage) page).latents());
  }

  @Override
  public Page shrunk(SharedArena memory, Page page, int level) {
    LatentPage wide = (LatentPage) page;
    return wide.withLatents(memory, shrinking.shrunk(memory, wide.latents(), level));
  }

  @Override
  public ShrinkingSequence fork() {
    return new ShrinkingLatentSequence(shrinking.fork(), this);
  }
}
