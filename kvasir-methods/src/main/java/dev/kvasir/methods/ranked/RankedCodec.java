package dev.kvasir.methods.ranked;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryPool;

/** Codec with two bit widths: tokens that recent queries attend to most get more bits. */
final class RankedCodec implements PageCodec {
  private final RankedSizes sizes;
  private final RankedSettings settings;
  private final RankedHeadLayout layout;
  private final Kernels kernels;

  RankedCodec(CacheShape cache, CacheContext context, RankedSettings settings) {
    this.sizes =
        new RankedSizes(
            cache.layers(),
            cache.kvHeads(),
            cache.keyDim(),
            cache.valueDim(),
            context.queryHeads());
    this.settings = settings;
    this.layout = RankedHeadLayout.of(cache.keyDim(), cache.valueDim(), settings);
    this.kernels = context.kernels();
  }

  RankedSizes rankedSizes() {
    return sizes;
  }

  RankedSettings settings() {
    return settings;
  }

  RankedHeadLayout layout() {
    return layout;
  }

  ReceivedAttention newReceivedAttention() {
    return new ReceivedAttention(kernels.floats(), sizes, settings.aggregation());
  }

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return new RankedSequence(this, pool);
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return RankedSequence.resumed(this, pool, state);
  }

  @Override
  public boolean allowsDeferredCheck() {
    return true;
  }

  @Override
  public boolean hasIndependentLayers() {
    return true;
  }

  @Override
  public long pageBytes() {
    return sizes.kvHeads() * layout.bytes();
  }

  @Override
  public long codeBytes() {
    return sizes.kvHeads() * layout.codeBytes();
  }

  @Override
  public long tableBytes(int quantizedBlocks) {
    return sizes.layers() * RecentQueries.bytesFor(settings.queries(), sizes.queryChannels());
  }
}
