package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.MemoryPool;
import java.util.Optional;

/** Makes blocks of what was stored: sinks, whole blocks, then those behind them. */
final class Restoring {
  private final LayerGroups groups;
  private final CacheSettings settings;
  private final MemoryPool pool;
  private final BlockPlaces places;
  private final CacheForm form;
  private final Optional<MappedForm> mapped; // the form, where blocks are read where they lie
  private final RestForm rest;
  private final RestBlocks restBlocks;

  /** Refuses what does not belong together; nothing is taken yet. */
  Restoring(LayerGroups groups, CacheSettings settings, MemoryPool pool, CacheForm form) {
    this.groups = groups;
    this.settings = settings;
    this.pool = pool;
    this.places = new BlockPlaces(settings.sinks());
    this.mapped = readsInPlace(settings) ? form.mapped() : Optional.empty();
    this.form = mapped.isPresent() ? mapped.get() : form;
    this.rest = RestForm.read(this.form.restToRead(), groups, settings);
    if (rest.blocks() != this.form.blocks()) {
      throw Envelope.REST.refused(
          "has %d whole blocks; %d are there".formatted(rest.blocks(), this.form.blocks()));
    }
    this.restBlocks = new RestBlocks(groups, settings, rest.length(), rest.blocks());
  }

  private static boolean readsInPlace(CacheSettings settings) {
    return settings.codec().map(PageCodec::readsInPlace).orElse(true);
  }

  /** What must be checked before anything is computed; null where everything was. */
  UncheckedBlocks unchecked() {
    return mapped.map(UncheckedBlocks::new).orElse(null);
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
    BlockReading reading =
        new BlockReading(groups, settings, pool, codec, mapped.map(MappedForm::mapping));
    int restRead = 0;
    while (places.firstPosition(blocks.count()) < length()) {
      int block = blocks.count();
      boolean isWhole = block >= places.sinkBlocks() && block < wholeEnd();
      boolean packable = codec != null && block >= wholeEnd();
      Block[] parts = new Block[groups.count()];
      try {
        if (isWhole) {
          Form stored = form.blockToRead(block - places.sinkBlocks());
          reading.read(stored, places.firstPosition(block), parts);
        } else {
          read(reading, restRead++, parts);
        }
        requireHeldBehind(blocks, parts);
        blocks.add(parts, packable);
      } catch (RuntimeException | Error e) {
        release(parts);
        throw e;
      }
    }
    if (!blocks.holdsWindows(places, length())) {
      throw Envelope.REST.refused("lacks what a token behind its %d reads".formatted(length()));
    }
  }

  private void read(BlockReading reading, int index, Block[] parts) {
    int capacity = places.capacity(restBlocks.block(index));
    int tokens = restBlocks.tokens(index);
    if (rest.held() == null) {
      reading.readNumbers(rest.numbers(), capacity, tokens, parts);
    } else {
      reading.readNumbers(rest.numbers(), rest.held()[index], capacity, tokens, parts);
    }
  }

  /** Layers let go of their first blocks, and hold all that follow. */
  private void requireHeldBehind(HostBlocks blocks, Block[] parts) {
    for (int i = 0; i < parts.length; i++) {
      int layer = groups.get(i).layer(0);
      boolean holdsBefore = blocks.ofLayer(layer).gone() < blocks.count();
      if (parts[i] == null && (holdsBefore || !groups.get(i).isBounded())) {
        throw Envelope.REST.refused(
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
