package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import java.util.Optional;

/** Restores blocks from a snapshot: sinks, whole blocks, then the residual ones. */
final class CacheRestorer {
  private final BlockPool pool;
  private final LayerGroups groups;
  private final CacheConfig config;
  private final BlockBoundaries boundaries;
  private final CacheSnapshot snapshot;
  private final Optional<UncheckedSnapshot> unchecked; // set if blocks are checked later
  private final ResidualSnapshot residual;
  private final ResidualBlocks residualBlocks;

  /** Rejects parts that do not belong together; nothing is allocated yet. */
  CacheRestorer(BlockPool pool, CacheConfig config, CacheSnapshot snapshot) {
    this.pool = pool;
    this.groups = pool.groups();
    this.config = config;
    this.boundaries = pool.boundaries();
    this.unchecked = canCheckLater(config) ? snapshot.unchecked() : Optional.empty();
    this.snapshot = unchecked.isPresent() ? unchecked.get() : snapshot;
    this.residual = ResidualSnapshot.read(this.snapshot.residualToRead(), groups, config);
    if (residual.blocks() != this.snapshot.blocks()) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d whole blocks; %d are there".formatted(residual.blocks(), this.snapshot.blocks()));
    }
    this.residualBlocks = new ResidualBlocks(groups, config, residual.length(), residual.blocks());
  }

  private static boolean canCheckLater(CacheConfig config) {
    return config.codec().map(PageCodec::allowsDeferredCheck).orElse(true);
  }

  /** Returns the blocks to check before any computation; null if all were checked. */
  UncheckedBlocks unchecked() {
    return unchecked.map(UncheckedBlocks::new).orElse(null);
  }

  int length() {
    return residual.length();
  }

  /** Returns the first block after the whole ones. */
  int wholeEnd() {
    return boundaries.sinkBlocks() + snapshot.blocks();
  }

  /** Returns the method's state; null if nothing is quantized. */
  SequenceCodec codec() {
    return config
        .codec()
        .map(made -> made.resumeSequence(pool.memory(), residual.state()))
        .orElse(null);
  }

  /**
   * Fills an empty block table. After a failure it keeps the blocks read so far.
   *
   * @param codec the result of {@link #codec}
   */
  void fill(BlockTable blocks, SequenceCodec codec) {
    BlockDeserializer deserializer =
        new BlockDeserializer(pool, codec, config.coldBlocks(), snapshot.mapping());
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
        BlockPool.release(parts);
        throw e;
      }
    }
    if (!blocks.holdsWindows(length())) {
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

  /** Rejects gaps: layers evict only their first blocks, and retain all that follow. */
  private void requireContiguous(BlockTable blocks, Block[] parts) {
    for (int i = 0; i < parts.length; i++) {
      boolean retainsEarlier = blocks.evicted(i) < blocks.count();
      if (parts[i] == null && (retainsEarlier || !groups.get(i).isBounded())) {
        throw SnapshotHeader.RESIDUAL.invalid(
            "lacks block %d of layer %d, which it needs"
                .formatted(blocks.count(), groups.get(i).layer(0)));
      }
    }
  }
}
