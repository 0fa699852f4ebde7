package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ColdBlocks;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.SharedMapping;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the blocks that {@link BlockSerializer} wrote, per layer group. A cache with sliding-window
 * layers also reads blocks that all layers retain.
 */
final class BlockDeserializer {
  private final BlockPool pool;
  private final LayerGroups groups;
  private final Precision precision;
  private final SequenceCodec codec; // null if nothing is quantized
  private final Optional<ColdBlocks> coldBlocks;
  private final Optional<SharedMapping> mapping;

  /**
   * @param mapping the file that serialized blocks lie in and may stay in; empty to copy them
   */
  BlockDeserializer(
      BlockPool pool,
      SequenceCodec codec,
      Optional<ColdBlocks> coldBlocks,
      Optional<SharedMapping> mapping) {
    this.pool = pool;
    this.groups = pool.groups();
    this.precision = pool.precision();
    this.codec = codec;
    this.coldBlocks = coldBlocks;
    this.mapping = mapping;
  }

  /**
   * Reads a whole block.
   *
   * @param blocks by group, filled; after a failure, those that are set are complete
   */
  void read(Snapshot snapshot, int position, Block[] blocks) {
    int kind = expectedKind(snapshot);
    SnapshotHeader.BLOCK.unwrap(
        snapshot,
        kind,
        in -> {
          requirePosition(in, position);
          switch (kind) {
            case BlockSerializer.QUANTIZED -> readPages(readForms(in), codec, blocks);
            case BlockSerializer.COLD -> readPages(readForms(in), coldBlocks.get().codec(), blocks);
            case BlockSerializer.DENSE -> readDense(in, blocks);
            default -> readLayers(in, blocks);
          }
          return blocks;
        });
  }

  /** Returns the kind of a serialized block if this cache supports it, else the kind it expects. */
  private int expectedKind(Snapshot snapshot) {
    int everywhere = codec == null ? BlockSerializer.DENSE : BlockSerializer.QUANTIZED;
    int kind =
        groups.retainAll() && coldBlocks.isEmpty()
            ? everywhere
            : SnapshotHeader.BLOCK.kindOf(snapshot);
    return switch (kind) {
      case BlockSerializer.BY_LAYER -> groups.retainAll() ? everywhere : kind;
      case BlockSerializer.COLD -> coldBlocks.isPresent() ? kind : everywhere;
      default -> everywhere;
    };
  }

  private static void requirePosition(ByteBuffer in, int position) {
    int found = SnapshotHeader.BLOCK.readPosition(in);
    if (found != position) {
      throw SnapshotHeader.BLOCK.invalid(
          "begins at position %d; in its place %d was expected".formatted(found, position));
    }
  }

  private List<Snapshot> readForms(ByteBuffer in) {
    requireLayers(in);
    return snapshots(in);
  }

  private void requireLayers(ByteBuffer in) {
    int found = Short.toUnsignedInt(in.getShort());
    if (found != groups.shape().layers()) {
      throw SnapshotHeader.BLOCK.invalid(
          "has %d layers; this cache has %d".formatted(found, groups.shape().layers()));
    }
  }

  private List<Snapshot> snapshots(ByteBuffer in) {
    int[] sizes = new int[groups.shape().layers()];
    long bytes = 0;
    for (int layer = 0; layer < sizes.length; layer++) {
      sizes[layer] = in.getInt();
      bytes += Integer.toUnsignedLong(sizes[layer]);
    }
    SnapshotHeader.BLOCK.requireRemaining(in, bytes);
    List<Snapshot> snapshots = new ArrayList<>();
    for (int size : sizes) {
      snapshots.add(Snapshot.nested(in, size));
    }
    return snapshots;
  }

  private void readPages(List<Snapshot> snapshots, SequenceCodec by, Block[] blocks) {
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = quantized(groups.get(i), snapshots, by);
    }
  }

  /**
   * Reads the pages of a group into memory of the pool.
   *
   * @param by the sequence's codec, or that of cold blocks
   */
  private QuantizedBlock quantized(LayerGroup group, List<Snapshot> snapshots, SequenceCodec by) {
    List<Page> pages = new ArrayList<>();
    SharedArena memory = newMemory();
    try {
      for (int index = 0; index < group.count(); index++) {
        int layer = group.layer(index);
        pages.add(by.deserialize(memory, layer, snapshots.get(layer)));
        memory = by instanceof RequantizingSequence ? memory.next() : memory;
      }
      return new QuantizedBlock(group, pages, by != codec);
    } catch (RuntimeException | Error e) {
      pages.forEach(Page::close);
      throw e;
    } finally {
      memory.release();
    }
  }

  private SharedArena newMemory() {
    MemoryPool memory = pool.memory();
    return mapping
        .map(file -> new SharedArena(memory, file))
        .orElseGet(() -> new SharedArena(memory));
  }

  /**
   * Reads a dense block. If one group has all layers, the numbers have the same layout in memory.
   */
  private void readDense(ByteBuffer in, Block[] blocks) {
    ResidualSnapshot.requirePrecision(SnapshotHeader.BLOCK, in, precision);
    SnapshotHeader.BLOCK.requireRemaining(in, bytes(groups.shape(), Page.TOKENS));
    if (mapping.isPresent() && blocks.length == 1) {
      MemorySegment numbers = MemorySegment.ofBuffer(in);
      blocks[0] =
          DenseBlock.mapped(groups.get(0), precision, pool.memory(), mapping.get(), numbers);
    } else {
      readNumbers(in, Page.TOKENS, Page.TOKENS, blocks);
    }
  }

  private long bytes(CacheShape shape, int tokens) {
    return DenseBlock.bytesFor(shape, tokens, precision);
  }

  /**
   * Reads a dense block of all layers: keys, then values.
   *
   * @param capacity tokens that the block can hold
   * @param tokens tokens that are present
   */
  void readNumbers(ByteBuffer in, int capacity, int tokens, Block[] blocks) {
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = newDense(groups.get(i), capacity);
    }
    for (int layer = 0; layer < groups.shape().layers(); layer++) {
      ((DenseBlock) blocks[groups.of(layer)]).readKeys(layer, tokens, in);
    }
    for (int layer = 0; layer < groups.shape().layers(); layer++) {
      ((DenseBlock) blocks[groups.of(layer)]).readValues(layer, tokens, in);
    }
  }

  private DenseBlock newDense(LayerGroup group, int capacity) {
    pool.memory().acquire(pool.denseBytes(group, capacity));
    return pool.newDense(group, capacity);
  }

  private void readLayers(ByteBuffer in, Block[] blocks) {
    ResidualSnapshot.requirePrecision(SnapshotHeader.BLOCK, in, precision);
    requireLayers(in);
    byte[] kinds = new byte[groups.shape().layers()];
    in.get(kinds);
    List<Snapshot> snapshots = snapshots(in);
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = block(groups.get(i), kinds, snapshots);
    }
  }

  private Block block(LayerGroup group, byte[] kinds, List<Snapshot> snapshots) {
    int kind = kind(SnapshotHeader.BLOCK, group, kinds);
    if (kind == BlockSerializer.EVICTED) {
      requireNothing(group, snapshots);
      return null;
    }
    if (kind == BlockSerializer.PAGE && codec != null) {
      return quantized(group, snapshots, codec);
    }
    if (kind == BlockSerializer.COLD_PAGE && coldBlocks.isPresent()) {
      return quantized(group, snapshots, coldBlocks.get().codec());
    }
    if (kind == BlockSerializer.NUMBERS && (codec == null || !group.quantizes())) {
      return numbers(group, snapshots);
    }
    throw SnapshotHeader.BLOCK.invalid(
        "has layer %d as kind %d, which this cache does not keep it as"
            .formatted(group.layer(0), kind));
  }

  private static void requireNothing(LayerGroup group, List<Snapshot> snapshots) {
    for (int index = 0; index < group.count(); index++) {
      int layer = group.layer(index);
      if (snapshots.get(layer).size() > 0) {
        throw SnapshotHeader.BLOCK.invalid(
            "has %d bytes of layer %d, which has evicted it"
                .formatted(snapshots.get(layer).size(), layer));
      }
    }
  }

  static int kind(SnapshotHeader header, LayerGroup group, byte[] kinds) {
    int kind = kinds[group.layer(0)];
    for (int index = 1; index < group.count(); index++) {
      if (kinds[group.layer(index)] != kind) {
        throw header.invalid(
            "has layer %d as kind %d and layer %d, which looks as far back, as kind %d"
                .formatted(group.layer(0), kind, group.layer(index), kinds[group.layer(index)]));
      }
    }
    return kind;
  }

  private DenseBlock numbers(LayerGroup group, List<Snapshot> snapshots) {
    List<ByteBuffer> layers = new ArrayList<>();
    for (int index = 0; index < group.count(); index++) {
      ByteBuffer in = snapshots.get(group.layer(index)).bytes();
      SnapshotHeader.BLOCK.requireRemaining(
          in, bytes(groups.shape().ofLayers(group.layer(index)), Page.TOKENS));
      layers.add(in);
    }
    DenseBlock block = newDense(group, Page.TOKENS);
    for (int index = 0; index < group.count(); index++) {
      readLayer(block, group.layer(index), Page.TOKENS, layers.get(index));
    }
    return block;
  }

  private static void readLayer(DenseBlock block, int layer, int tokens, ByteBuffer in) {
    block.readKeys(layer, tokens, in);
    block.readValues(layer, tokens, in);
  }

  /**
   * Reads a dense block of some layers, each with its keys and then its values.
   *
   * @param retained by layer, 1 if present
   */
  void readNumbers(ByteBuffer in, byte[] retained, int capacity, int tokens, Block[] blocks) {
    for (int i = 0; i < blocks.length; i++) {
      boolean isThere = retained[groups.get(i).layer(0)] == 1;
      blocks[i] = isThere ? newDense(groups.get(i), capacity) : null;
    }
    for (int layer = 0; layer < retained.length; layer++) {
      if (blocks[groups.of(layer)] instanceof DenseBlock dense) {
        readLayer(dense, layer, tokens, in);
      }
    }
  }
}
