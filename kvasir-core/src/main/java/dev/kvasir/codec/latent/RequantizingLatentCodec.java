package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/** A latent codec whose latents can be requantized. The rotary channels keep their bits. */
final class RequantizingLatentCodec extends LatentCodec implements RequantizingCodec {
  private final RequantizingCodec requantizing;

  RequantizingLatentCodec(RequantizingCodec latents, RotaryChannels rotary, int queryHeads) {
    super(latents, rotary, queryHeads);
    this.requantizing = latents;
  }

  @Override
  public RequantizingSequence newSequence(MemoryPool pool) {
    return new RequantizingLatentSequence(requantizing.newSequence(pool), rotary, queryHeads);
  }

  @Override
  public RequantizingSequence newSequence() {
    return newSequence(MemoryPool.unlimited());
  }

  @Override
  public RequantizingSequence resumeSequence(MemoryPool pool, byte[] state) {
    byte[] ofLatents = LatentSequence.latentState(RequantizingLatentSequence.KIND, state);
    return new RequantizingLatentSequence(
        requantizing.resumeSequence(pool, ofLatents), rotary, queryHeads);
  }

  @Override
  public int floorLevel(int layer) {
    return requantizing.floorLevel(layer);
  }

  @Override
  public long pageBytes(int layer, int level) {
    return requantizing.pageBytes(layer, level) + rotary.bytes();
  }

  @Override
  public long codeBytes(int layer, int level) {
    return requantizing.codeBytes(layer, level) + rotary.codeBytes();
  }

  /** The sequence codec of latents that have levels. The rotary channels keep their bits. */
  private static final class RequantizingLatentSequence extends LatentSequence
      implements RequantizingSequence {
    /** The snapshot kind of this state. */
    static final int KIND = 49;

    private final RequantizingSequence requantizing;

    RequantizingLatentSequence(
        RequantizingSequence latents, RotaryChannels rotary, int queryHeads) {
      super(latents, rotary, queryHeads);
      this.requantizing = latents;
    }

    private RequantizingLatentSequence(RequantizingSequence latents, LatentSequence like) {
      super(latents, like);
      this.requantizing = latents;
    }

    @Override
    public byte[] serializeState() {
      return state(KIND, requantizing.serializeState());
    }

    @Override
    public int level(int layer) {
      return requantizing.level(layer);
    }

    @Override
    public void setLevel(int layer, int level) {
      requantizing.setLevel(layer, level);
    }

    @Override
    public int level(Page page) {
      return requantizing.level(((LatentPage) page).latents());
    }

    @Override
    public Page requantize(SharedArena memory, int layer, Page page, int level) {
      LatentPage wide = (LatentPage) page;
      return wide.withLatents(
          memory, requantizing.requantize(memory, layer, wide.latents(), level));
    }

    @Override
    public RequantizingSequence fork() {
      return new RequantizingLatentSequence(requantizing.fork(), this);
    }
  }
}
