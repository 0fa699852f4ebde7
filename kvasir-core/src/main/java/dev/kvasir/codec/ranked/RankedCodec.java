package dev.kvasir.codec.ranked;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryPool;

/** Tokens of two widths, by how much recent queries look at them. */
final class RankedCodec implements PageCodec {
  private final RankedSizes sizes;
  private final RankedSettings settings;
  private final RankedShape shape;
  private final Kernels kernels;

  RankedCodec(CacheShape cache, CacheHost host, RankedSettings settings) {
    this.sizes =
        new RankedSizes(
            cache.layers(), cache.kvHeads(), cache.keyDim(), cache.valueDim(), host.queryHeads());
    this.settings = settings;
    this.shape = RankedShape.of(cache.keyDim(), cache.valueDim(), settings);
    this.kernels = host.kernels();
  }

  RankedSizes model() {
    return sizes;
  }

  RankedSettings settings() {
    return settings;
  }

  RankedShape shape() {
    return shape;
  }

  ReceivedAttention newAttention() {
    return new ReceivedAttention(kernels.floats(), sizes, settings.rank());
  }

  @Override
  public SequenceCodec begin(MemoryPool pool) {
    return new RankedSequence(this, pool);
  }

  @Override
  public SequenceCodec resume(MemoryPool pool, byte[] state) {
    return RankedSequence.resumed(this, pool, state);
  }

  @Override
  public boolean canCheckLater() {
    return true;
  }

  @Override
  public boolean packsLayersApart() {
    return true;
  }

  @Override
  public long pageBytes() {
    return sizes.kvHeads() * shape.bytes();
  }

  @Override
  public long codeBytes() {
    return sizes.kvHeads() * shape.codeBytes();
  }

  @Override
  public long tableBytes(int sealedBlocks) {
    return sizes.layers() * RecentQueries.bytesFor(settings.queries(), sizes.queryChannels());
  }
}
