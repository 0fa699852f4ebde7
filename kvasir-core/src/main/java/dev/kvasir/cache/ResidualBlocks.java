package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SnapshotHeader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The blocks of a cache that are not stored as whole ones: sinks, and the blocks after the whole
 * ones.
 */
final class ResidualBlocks {
  private final LayerGroups groups;
  private final CacheConfig config;
  private final BlockBoundaries boundaries;
  private final int length;
  private final int[] blocks;

  /**
   * @param whole blocks after the sinks that are stored separately
   */
  ResidualBlocks(LayerGroups groups, CacheConfig config, int length, int whole) {
    this.groups = groups;
    this.config = config;
    this.boundaries = new BlockBoundaries(config.sinks());
    this.length = length;
    int first = boundaries.sinkBlocks();
    int end = boundaries.blocks(length);
    this.blocks = IntStream.range(0, end).filter(i -> i < first || i >= first + whole).toArray();
  }

  int count() {
    return blocks.length;
  }

  /** Returns the index of a residual block among all blocks. */
  int block(int index) {
    return blocks[index];
  }

  /** Returns the tokens of a residual block. */
  int tokens(int index) {
    return boundaries.tokens(blocks[index], length);
  }

  /** Returns 1 by block and layer: no layer has evicted anything. */
  byte[][] allRetained() {
    byte[][] retained = new byte[blocks.length][groups.shape().layers()];
    for (byte[] ofBlock : retained) {
      Arrays.fill(ofBlock, (byte) 1);
    }
    return retained;
  }

  byte[][] retained(BlockTable blockTable) {
    byte[][] retained = new byte[blocks.length][groups.shape().layers()];
    for (int i = 0; i < retained.length; i++) {
      for (int layer = 0; layer < retained[i].length; layer++) {
        retained[i][layer] = (byte) (blockTable.get(layer, blocks[i]) == null ? 0 : 1);
      }
    }
    return retained;
  }

  byte[][] readRetained(ByteBuffer in) {
    byte[][] retained = new byte[blocks.length][];
    for (int i = 0; i < retained.length; i++) {
      retained[i] = new byte[groups.shape().layers()];
      in.get(retained[i]);
      for (LayerGroup group : groups.all()) {
        int kind = BlockDeserializer.kind(SnapshotHeader.RESIDUAL, group, retained[i]);
        if (kind != 0 && kind != 1) {
          throw SnapshotHeader.RESIDUAL.invalid(
              "has layer %d as kind %d; expected 0 or 1".formatted(group.layer(0), kind));
        }
      }
    }
    return retained;
  }

  /** Returns the bytes of the numbers in layers that retain a block. */
  long bytes(byte[][] retained) {
    long bytes = 0;
    for (int i = 0; i < retained.length; i++) {
      for (int layer = 0; layer < retained[i].length; layer++) {
        if (retained[i][layer] == 1) {
          CacheShape one = groups.shape().ofLayers(layer);
          bytes += DenseBlock.bytesFor(one, tokens(i), config.precision());
        }
      }
    }
    return bytes;
  }
}
