package dev.kvasir.codec.latent;

import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/** The same where the method keeps nothing of a sequence. */
final class StatelessLatentCodec extends LatentCodec implements StatelessCodec {
  private final SequenceCodec sealing;

  StatelessLatentCodec(StatelessCodec latents, RotaryChannels rotary) {
    super(latents, rotary, 0);
    this.sealing = latents;
  }

  @Override
  public SequenceCodec begin(MemoryPool pool) {
    return this;
  }

  @Override
  public SequenceCodec resume(MemoryPool pool, byte[] state) {
    return StatelessCodec.super.resume(pool, state);
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return LatentSequence.sealed(sealing, rotary, memory, layer, position, keys, values);
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    return LatentPage.read(memory, rotary, sealing, layer, form);
  }

  @Override
  public long tableBytes() {
    return 0;
  }
}
