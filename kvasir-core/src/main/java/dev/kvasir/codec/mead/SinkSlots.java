package dev.kvasir.codec.mead;

import dev.kvasir.memory.CopyOnWriteMemory;
import dev.kvasir.memory.MemoryPool;
import java.util.BitSet;
import java.util.Optional;

/**
 * Memory for unquantized tokens, with the same number of slots for each quantized layer. It is
 * allocated when a sequence starts, so that the size of a sequence is known in advance. Forks share
 * it and take slots first come, first served. Sequences hold a reference, and pages hold one for
 * each of their slots.
 *
 * <pre>bytes = layers * slots * ExactRows.bytesFor</pre>
 */
final class SinkSlots {
  private final MeadSizes sizes;
  private final int slots;
  private final CopyOnWriteMemory memory;
  private final BitSet inUse = new BitSet(); // by layer and slot

  /** Creates slots with one reference. */
  SinkSlots(MeadTables tables, int slots, MemoryPool pool) {
    this.sizes = tables.sizes();
    this.slots = slots;
    this.memory = new CopyOnWriteMemory(bytesFor(tables, slots), pool);
  }

  static long bytesFor(MeadTables tables, int slots) {
    return bytesFor(tables.sizes(), tables.quantizedLayers(), slots);
  }

  static long bytesFor(MeadSizes sizes, int quantizedLayers, int slots) {
    return quantizedLayers * slots * ExactRows.bytesFor(sizes);
  }

  /**
   * Returns rows for a token, retained for the caller; empty if all slots of the layer are in use.
   *
   * @param quantizedLayer index of the layer among the quantized ones
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
