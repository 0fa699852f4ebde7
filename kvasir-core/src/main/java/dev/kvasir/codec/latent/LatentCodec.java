package dev.kvasir.codec.latent;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.SequenceCodec;
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
  static PageCodec of(PageCodec latents, RotaryChannels rotary, CacheContext context) {
    return switch (latents) {
      case RequantizingCodec requantizing ->
          new RequantizingLatentCodec(requantizing, rotary, context.queryHeads());
      case StatelessCodec stateless -> new StatelessLatentCodec(stateless, rotary);
      default -> new LatentCodec(latents, rotary, context.queryHeads());
    };
  }

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return new LatentSequence(latents.newSequence(pool), rotary, queryHeads);
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    byte[] ofLatents = LatentSequence.latentState(LatentSequence.KIND, state);
    return new LatentSequence(latents.resumeSequence(pool, ofLatents), rotary, queryHeads);
  }

  @Override
  public SizeAccuracy sizes() {
    return latents.sizes();
  }

  @Override
  public boolean prefersQuantizedPrefill() {
    return latents.prefersQuantizedPrefill();
  }

  @Override
  public boolean allowsDeferredCheck() {
    return latents.allowsDeferredCheck();
  }

  @Override
  public int blocksPerGroup() {
    return latents.blocksPerGroup();
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
  public boolean hasIndependentLayers() {
    return latents.hasIndependentLayers();
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
