package dev.kvasir.codec.latent;

import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.memory.MemoryPool;

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
}
