package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.MemoryPool;

/** Makes blocks of what was stored: sinks, whole blocks, then those behind them. */
final class Restoring {
  private final CacheShape shape;
  private final CacheSettings settings;
  private final MemoryPool pool;
  private final BlockPlaces places;
  private final CacheForm form;
  private final RestForm rest;

  /** Refuses what does not belong together; nothing is taken yet. */
  Restoring(CacheShape shape, CacheSettings settings, MemoryPool pool, CacheForm form) {
    this.shape = shape;
    this.settings = settings;
    this.pool = pool;
    this.places = new BlockPlaces(settings.sinks());
    this.form = form;
    this.rest = RestForm.read(form.rest(), shape, settings);
    if (rest.blocks() != form.blocks()) {
      throw Envelope.REST.refused(
          "has %d whole blocks; %d are there".formatted(rest.blocks(), form.blocks()));
    }
  }

  int length() {
    return rest.length();
  }

  /** The first block that is not whole, behind the sinks. */
  int wholeEnd() {
    return places.sinkBlocks() + form.blocks();
  }

  /** What the method keeps; null where nothing is packed. */
  SequenceCodec codec() {
    return settings.codec().map(made -> made.resume(pool, rest.state())).orElse(null);
  }

  /**
   * Fills empty blocks. Where that fails, they hold what they hold by then.
   *
   * @param codec that {@link #codec} made
   */
  void fill(HostBlocks blocks, SequenceCodec codec) {
    boolean packs = codec != null;
    while (blocks.count() < places.sinkBlocks() && hasTokens(blocks.count())) {
      addRest(blocks, 0);
    }
    for (int i = 0; i < form.blocks(); i++) {
      int position = places.firstPosition(blocks.count());
      if (packs) {
        blocks.add(BlockForm.readPacked(form.block(i), position, codec, shape, pool));
      } else {
        DenseBlock block = addDense(blocks, 0);
        BlockForm.readDense(form.block(i), position, block, shape, settings.precision());
      }
    }
    while (hasTokens(blocks.count())) {
      addRest(blocks, packs ? 1 : 0);
    }
  }

  private boolean hasTokens(int block) {
    return places.firstPosition(block) < length();
  }

  private void addRest(HostBlocks blocks, int packable) {
    int block = blocks.count();
    rest.fill(addDense(blocks, packable), places.tokens(block, length()));
  }

  private DenseBlock addDense(HostBlocks blocks, int packable) {
    int block = blocks.count();
    blocks.take(-1, new int[] {places.capacity(block)}, packable);
    return (DenseBlock) blocks.get(block);
  }
}
