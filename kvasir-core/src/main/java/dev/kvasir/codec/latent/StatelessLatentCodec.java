package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/** A latent codec for a stateless method. */
final class StatelessLatentCodec extends LatentCodec implements StatelessCodec {
  private final SequenceCodec latentCodec;

  StatelessLatentCodec(StatelessCodec latents, RotaryChannels rotary) {
    super(latents, rotary, 0);
    this.latentCodec = latents;
  }

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return this;
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return StatelessCodec.super.resumeSequence(pool, state);
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return LatentSequence.quantizeLatents(
        latentCodec, rotary, memory, layer, position, keys, values);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return LatentPage.deserialize(memory, rotary, latentCodec, layer, snapshot);
  }

  @Override
  public long tableBytes() {
    return 0;
  }
}
