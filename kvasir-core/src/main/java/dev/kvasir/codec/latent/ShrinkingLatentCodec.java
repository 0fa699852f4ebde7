package dev.kvasir.codec.latent;

import dev.kvasir.codec.ShrinkingCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.memory.MemoryPool;

/** The same where latents become narrower under a budget; the channels that turn do not. */
final class ShrinkingLatentCodec extends LatentCodec implements ShrinkingCodec {
  private final ShrinkingCodec shrinking;

  ShrinkingLatentCodec(ShrinkingCodec latents, RotaryChannels rotary, int queryHeads) {
    super(latents, rotary, queryHeads);
    this.shrinking = latents;
  }

  @Override
  public ShrinkingSequence begin(MemoryPool pool) {
    return new ShrinkingLatentSequence(shrinking.begin(pool), rotary, queryHeads);
  }

  @Override
  public ShrinkingSequence begin() {
    return begin(MemoryPool.unlimited());
  }

  @Override
  public ShrinkingSequence resume(MemoryPool pool, byte[] state) {
    byte[] ofLatents = LatentSequence.latentState(ShrinkingLatentSequence.KIND, state);
    return new ShrinkingLatentSequence(shrinking.resume(pool, ofLatents), rotary, queryHeads);
  }

  @Override
  public int floor(int layer) {
    return shrinking.floor(layer);
  }

  @Override
  public long pageBytes(int layer, int level) {
    return shrinking.pageBytes(layer, level) + rotary.bytes();
  }

  @Override
  public long codeBytes(int layer, int level) {
    return shrinking.codeBytes(layer, level) + rotary.codeBytes();
  }
}
