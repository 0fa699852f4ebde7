package dev.kvasir.codec.latent;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/**
 * Applies a method to latents. The rotary channels are quantized separately with more bits: they
 * are few, and they carry the positions, so their errors would confuse the order of tokens.
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

  /** Wraps a codec; stateless and requantizing codecs remain so. */
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
  public long tableBytes(int quantizedBlocks) {
    return latents.tableBytes(quantizedBlocks);
  }

  @Override
  public long sharedBytes() {
    return latents.sharedBytes();
  }

  /** A latent codec for a stateless method. */
  private static final class StatelessLatentCodec extends LatentCodec implements StatelessCodec {
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
    public Page quantize(
        SharedArena memory, int layer, int position, float[] keys, float[] values) {
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
}
