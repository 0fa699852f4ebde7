package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SnapshotHeader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.IntStream;

/** The blocks of a cache that are not stored as whole ones: sinks, and those behind the whole. */
final class ResidualBlocks {
  private final LayerGroups groups;
  private final CacheConfig settings;
  private final BlockBoundaries boundaries;
  private final int length;
  private final int[] blocks;

  /**
   * @param whole blocks behind the sinks that are stored apart
   */
  ResidualBlocks(LayerGroups groups, CacheConfig settings, int length, int whole) {
    this.groups = groups;
    this.settings = settings;
    this.boundaries = new BlockBoundaries(settings.sinks());
    this.length = length;
    int first = boundaries.sinkBlocks();
    int end = length == 0 ? 0 : boundaries.blockOf(length - 1) + 1;
    this.blocks = IntStream.range(0, end).filter(i -> i < first || i >= first + whole).toArray();
  }

  int count() {
    return blocks.length;
  }

  /** The index among all blocks of one of these. */
  int block(int index) {
    return blocks[index];
  }

  /** Tokens of one of these. */
  int tokens(int index) {
    return boundaries.tokens(blocks[index], length);
  }

  /** By block and layer, 1: every layer has let go of nothing. */
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

  /** Of the numbers of those layers that hold a block. */
  long bytes(byte[][] retained) {
    CacheShape layer = groups.shape().withLayers(1);
    long bytes = 0;
    for (int i = 0; i < retained.length; i++) {
      int layers = 0;
      for (byte one : retained[i]) {
        layers += one;
      }
      bytes += layers * DenseBlock.bytesFor(layer, tokens(i), settings.precision());
    }
    return bytes;
  }
}
