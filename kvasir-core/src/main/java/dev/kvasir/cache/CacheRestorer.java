package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.MemoryPool;
import java.util.Optional;

/** Makes blocks of what was stored: sinks, whole blocks, then those behind them. */
final class CacheRestorer {
  private final LayerGroups groups;
  private final CacheConfig settings;
  private final MemoryPool pool;
  private final BlockBoundaries boundaries;
  private final CacheSnapshot snapshot;
  private final Optional<UncheckedSnapshot> unchecked; // the form, where blocks are checked later
  private final ResidualSnapshot residual;
  private final ResidualBlocks residualBlocks;

  /** Refuses what does not belong together; nothing is taken yet. */
  CacheRestorer(LayerGroups groups, CacheConfig settings, MemoryPool pool, CacheSnapshot snapshot) {
    this.groups = groups;
    this.settings = settings;
    this.pool = pool;
    this.boundaries = new BlockBoundaries(settings.sinks());
    this.unchecked = canCheckLater(settings) ? snapshot.unchecked() : Optional.empty();
    this.snapshot = unchecked.isPresent() ? unchecked.get() : snapshot;
    this.residual = ResidualSnapshot.read(this.snapshot.residualToRead(), groups, settings);
    if (residual.blocks() != this.snapshot.blocks()) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d whole blocks; %d are there".formatted(residual.blocks(), this.snapshot.blocks()));
    }
    this.residualBlocks =
        new ResidualBlocks(groups, settings, residual.length(), residual.blocks());
  }

  private static boolean canCheckLater(CacheConfig settings) {
    return settings.codec().map(PageCodec::allowsDeferredCheck).orElse(true);
  }

  /** What must be checked before anything is computed; null where everything was. */
  UncheckedBlocks unchecked() {
    return unchecked.map(UncheckedBlocks::new).orElse(null);
  }

  int length() {
    return residual.length();
  }

  /** The first block that is not whole, behind the sinks. */
  int wholeEnd() {
    return boundaries.sinkBlocks() + snapshot.blocks();
  }

  /** What the method keeps; null where nothing is packed. */
  SequenceCodec codec() {
    return settings.codec().map(made -> made.resumeSequence(pool, residual.state())).orElse(null);
  }

  /**
   * Fills empty blocks. Where that fails, they hold what they hold by then.
   *
   * @param codec that {@link #codec} made
   */
  void fill(BlockTable blocks, SequenceCodec codec) {
    BlockDeserializer deserializer =
        new BlockDeserializer(groups, settings, pool, codec, snapshot.mapping());
    int residualIndex = 0;
    while (boundaries.firstPosition(blocks.count()) < length()) {
      int block = blocks.count();
      boolean isWhole = block >= boundaries.sinkBlocks() && block < wholeEnd();
      boolean quantizable = codec != null && block >= wholeEnd();
      Block[] parts = new Block[groups.count()];
      try {
        if (isWhole) {
          Snapshot stored = snapshot.blockToRead(block - boundaries.sinkBlocks());
          deserializer.read(stored, boundaries.firstPosition(block), parts);
        } else {
          read(deserializer, residualIndex++, parts);
        }
        requireContiguous(blocks, parts);
        blocks.add(parts, quantizable);
      } catch (RuntimeException | Error e) {
        release(parts);
        throw e;
      }
    }
    if (!blocks.holdsWindows(boundaries, length())) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "lacks what a token behind its %d reads".formatted(length()));
    }
  }

  private void read(BlockDeserializer deserializer, int index, Block[] parts) {
    int capacity = boundaries.capacity(residualBlocks.block(index));
    int tokens = residualBlocks.tokens(index);
    if (residual.retained() == null) {
      deserializer.readNumbers(residual.numbers(), capacity, tokens, parts);
    } else {
      deserializer.readNumbers(
          residual.numbers(), residual.retained()[index], capacity, tokens, parts);
    }
  }

  /** Layers let go of their first blocks, and hold all that follow. */
  private void requireContiguous(BlockTable blocks, Block[] parts) {
    for (int i = 0; i < parts.length; i++) {
      int layer = groups.get(i).layer(0);
      boolean retainsEarlier = blocks.ofLayer(layer).evicted() < blocks.count();
      if (parts[i] == null && (retainsEarlier || !groups.get(i).isBounded())) {
        throw SnapshotHeader.RESIDUAL.invalid(
            "lacks block %d of layer %d, which it needs".formatted(blocks.count(), layer));
      }
    }
  }

  private static void release(Block[] parts) {
    for (Block part : parts) {
      if (part != null) {
        part.release();
      }
    }
  }
}
