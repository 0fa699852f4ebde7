package dev.kvasir.codec.mead;

import dev.kvasir.memory.CopyOnWriteMemory;
import dev.kvasir.memory.MemoryPool;
import java.util.BitSet;
import java.util.Optional;

/**
 * Memory for tokens that stay as they came, the same number of each layer that is coded. It is
 * taken at once when a sequence begins, so that what a sequence takes is known beforehand. Forks
 * share it: who comes first has a slot. It is held by sequences, and by pages for each of their
 * slots.
 *
 * <pre>bytes = layers * slots * ExactRows.bytesFor</pre>
 */
final class SinkSlots {
  private final MeadSizes sizes;
  private final int slots;
  private final CopyOnWriteMemory memory;
  private final BitSet inUse = new BitSet(); // by layer and slot

  /** Held by whoever makes it. */
  SinkSlots(MeadTables tables, int slots, MemoryPool pool) {
    this.sizes = tables.sizes();
    this.slots = slots;
    this.memory = new CopyOnWriteMemory(bytesFor(tables, slots), pool);
  }

  static long bytesFor(MeadTables tables, int slots) {
    return tables.quantizedLayers() * slots * ExactRows.bytesFor(tables.sizes());
  }

  /**
   * Rows for a token, held by whoever asks; empty where all of the layer's are taken.
   *
   * @param codedLayer of the layers that are coded, the how manieth
   */
  synchronized Optional<ExactRows> allocate(int quantizedLayer) {
    int first = quantizedLayer * slots;
    int slot = inUse.nextClearBit(first);
    if (slot >= first + slots) {
      return Optional.empty();
    }
    inUse.set(slot);
    memory.retain();
    long bytes = ExactRows.bytesFor(sizes);
    return Optional.of(
        new ExactRows(sizes, memory.bytes().asSlice(slot * bytes, bytes), () -> free(slot)));
  }

  private void free(int slot) {
    synchronized (this) {
      inUse.clear(slot);
    }
    memory.release();
  }

  long bytes() {
    return memory.bytes().byteSize();
  }

  SinkSlots retain() {
    memory.retain();
    return this;
  }

  void release() {
    memory.release();
  }
}
