package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryPool;

/**
 * Creates blocks of one configuration in the memory of a pool, for the {@link BlockTable} of a
 * sequence and of its forks. Callers acquire the bytes of a block before they create it, so that
 * several blocks are created together or not at all.
 */
final class BlockPool {
  private final LayerGroups groups;
  private final BlockBoundaries boundaries;
  private final Precision precision;
  private final MemoryPool memory;
  private final PageCodec codec; // null if nothing is quantized
  private final long pageBytes;

  BlockPool(CacheShape shape, CacheConfig config, MemoryPool memory) {
    this.groups = LayerGroups.of(shape, config);
    this.boundaries = new BlockBoundaries(config.sinks());
    this.precision = config.precision();
    this.memory = memory;
    this.codec = config.codec().orElse(null);
    this.pageBytes = groups.all().stream().mapToLong(this::pageBytes).sum();
  }

  LayerGroups groups() {
    return groups;
  }

  BlockBoundaries boundaries() {
    return boundaries;
  }

  Precision precision() {
    return precision;
  }

  MemoryPool memory() {
    return memory;
  }

  /** Returns whether blocks behind the residual window are quantized. */
  boolean hasCodec() {
    return codec != null;
  }

  /** Returns the maximum bytes of a block's pages; 0 if nothing is quantized. */
  long pageBytes() {
    return pageBytes;
  }

  /** Returns the maximum bytes of a block's pages in the layers of a group. */
  long pageBytes(LayerGroup group) {
    return group.quantizes() ? group.pageBytes(codec) : 0;
  }

  long denseBytes(LayerGroup group, int tokens) {
    return DenseBlock.bytesFor(group.shape(), tokens, precision);
  }

  /** Returns the bytes of a dense block in all layers. */
  long denseBytes(int tokens) {
    return DenseBlock.bytesFor(groups.shape(), tokens, precision);
  }

  DenseBlock newDense(LayerGroup group, int tokens) {
    return new DenseBlock(group, tokens, precision, memory);
  }

  /**
   * Creates a dense block in all groups or in none.
   *
   * @param left bytes that were acquired and are not used yet; decreased
   * @return the block by group
   */
  Block[] newDense(int tokens, long[] left) {
    Block[] blocks = new Block[groups.count()];
    try {
      for (int i = 0; i < blocks.length; i++) {
        left[0] -= denseBytes(groups.get(i), tokens);
        blocks[i] = newDense(groups.get(i), tokens);
      }
      return blocks;
    } catch (RuntimeException | Error e) {
      release(blocks);
      throw e;
    }
  }

  /** Releases the parts of a block that exist. */
  static void release(Block[] blocks) {
    for (Block block : blocks) {
      if (block != null) {
        block.release();
      }
    }
  }
}
