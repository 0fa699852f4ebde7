package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Envelope;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.IntStream;

/** The blocks of a cache that are not stored as whole ones: sinks, and those behind the whole. */
final class RestBlocks {
  private final LayerGroups groups;
  private final CacheSettings settings;
  private final BlockPlaces places;
  private final int length;
  private final int[] blocks;

  /**
   * @param whole blocks behind the sinks that are stored apart
   */
  RestBlocks(LayerGroups groups, CacheSettings settings, int length, int whole) {
    this.groups = groups;
    this.settings = settings;
    this.places = new BlockPlaces(settings.sinks());
    this.length = length;
    int first = places.sinkBlocks();
    int end = length == 0 ? 0 : places.blockOf(length - 1) + 1;
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
    return places.tokens(blocks[index], length);
  }

  /** By block and layer, 1: every layer has let go of nothing. */
  byte[][] allHeld() {
    byte[][] held = new byte[blocks.length][groups.shape().layers()];
    for (byte[] ofBlock : held) {
      Arrays.fill(ofBlock, (byte) 1);
    }
    return held;
  }

  byte[][] held(HostBlocks sequence) {
    byte[][] held = new byte[blocks.length][groups.shape().layers()];
    for (int i = 0; i < held.length; i++) {
      for (int layer = 0; layer < held[i].length; layer++) {
        held[i][layer] = (byte) (sequence.get(layer, blocks[i]) == null ? 0 : 1);
      }
    }
    return held;
  }

  byte[][] readHeld(ByteBuffer in) {
    byte[][] held = new byte[blocks.length][];
    for (int i = 0; i < held.length; i++) {
      held[i] = new byte[groups.shape().layers()];
      in.get(held[i]);
      for (LayerGroup group : groups.all()) {
        int kind = BlockReading.kind(Envelope.REST, group, held[i]);
        if (kind != 0 && kind != 1) {
          throw Envelope.REST.refused(
              "has layer %d as kind %d; expected 0 or 1".formatted(group.layer(0), kind));
        }
      }
    }
    return held;
  }

  /** Of the numbers of those layers that hold a block. */
  long bytes(byte[][] held) {
    CacheShape layer = groups.shape().ofLayers(1);
    long bytes = 0;
    for (int i = 0; i < held.length; i++) {
      int layers = 0;
      for (byte one : held[i]) {
        layers += one;
      }
      bytes += layers * DenseBlock.bytesFor(layer, tokens(i), settings.precision());
    }
    return bytes;
  }
}
