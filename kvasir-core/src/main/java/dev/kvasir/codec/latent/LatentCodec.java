package dev.kvasir.codec.latent;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingCodec;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.memory.MemoryPool;

/**
 * A method on latents: it packs what it would pack of heads without the channels that turn, which
 * lie beside it with more bits. Positions are in them, so that what is left of a score's precision
 * is left of the order of words, and they are few.
 */
class LatentCodec implements PageCodec {
  final PageCodec latents;
  final RotaryChannels rotary;
  final int queryHeads;

  LatentCodec(PageCodec latents, RotaryChannels rotary, int queryHeads) {
    this.latents = latents;
    this.rotary = rotary;
    this.queryHeads = queryHeads;
  }

  /** A codec that keeps nothing, or shrinks, stays one. */
  static PageCodec of(PageCodec latents, RotaryChannels rotary, CacheHost host) {
    return switch (latents) {
      case ShrinkingCodec shrinking ->
          new ShrinkingLatentCodec(shrinking, rotary, host.queryHeads());
      case StatelessCodec stateless -> new StatelessLatentCodec(stateless, rotary);
      default -> new LatentCodec(latents, rotary, host.queryHeads());
    };
  }

  @Override
  public SequenceCodec begin(MemoryPool pool) {
    return new LatentSequence(latents.begin(pool), rotary, queryHeads);
  }

  @Override
  public SequenceCodec resume(MemoryPool pool, byte[] state) {
    byte[] ofLatents = LatentSequence.latentState(LatentSequence.KIND, state);
    return new LatentSequence(latents.resume(pool, ofLatents), rotary, queryHeads);
  }

  @Override
  public Sizes sizes() {
    return latents.sizes();
  }

  @Override
  public boolean readsPromptsPacked() {
    return latents.readsPromptsPacked();
  }

  @Override
  public boolean canCheckLater() {
    return latents.canCheckLater();
  }

  @Override
  public int blocksTogether() {
    return latents.blocksTogether();
  }

  @Override
  public long pageBytes() {
    return latents.pageBytes() + rotary.bytes();
  }

  @Override
  public long codeBytes() {
    return latents.codeBytes() + rotary.codeBytes();
  }

  @Override
  public boolean packsLayersApart() {
    return latents.packsLayersApart();
  }

  @Override
  public long pageBytes(int layer) {
    return latents.pageBytes(layer) + rotary.bytes();
  }

  @Override
  public long codeBytes(int layer) {
    return latents.codeBytes(layer) + rotary.codeBytes();
  }

  @Override
  public long tableBytes(int sealedBlocks) {
    return latents.tableBytes(sealedBlocks);
  }

  @Override
  public long sharedBytes() {
    return latents.sharedBytes();
  }
}
