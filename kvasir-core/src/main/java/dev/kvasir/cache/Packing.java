package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.Spares;
import java.util.ArrayList;
import java.util.List;

/**
 * A full block in the course of being packed, layer by layer of a group. Its pages lie beside it
 * until all are there, together in one arena, but for those that are replaced one by one.
 */
final class Packing {
  private static final Kernels KERNELS = new ScalarKernels();
  private static final Spares<LayerVectors> ROOMS = new Spares<>(LayerVectors::new);

  private final DenseBlock dense;
  private final int position;
  private final SequenceCodec codec;
  private final LayerGroup group;
  private final long prepaid;
  private final List<Page> pages = new ArrayList<>();
  private SharedArena memory;

  /**
   * @param position of the block's first token
   * @param prepaid bytes that were taken from the pool beforehand
   */
  Packing(
      DenseBlock dense,
      int position,
      SequenceCodec codec,
      LayerGroup group,
      MemoryPool pool,
      long prepaid) {
    this.dense = dense;
    this.position = position;
    this.codec = codec;
    this.group = group;
    this.prepaid = prepaid;
    this.memory = new SharedArena(pool, prepaid);
  }

  /** Bytes that were taken from the pool beforehand. */
  long prepaid() {
    return prepaid;
  }

  /** Packs all layers. */
  void sealLayers() {
    LayerVectors room = ROOMS.take();
    try {
      room.makeRoom(group.shape());
      for (int i = 0; i < group.count(); i++) {
        int layer = group.layer(i);
        dense.expandLayer(KERNELS, layer, room.keys, room.values);
        pages.add(codec.seal(memory, layer, position, room.keys, room.values));
        memory = codec instanceof ShrinkingSequence ? memory.next() : memory;
      }
    } finally {
      ROOMS.giveBack(room);
    }
  }

  /** The packed block, once it has all layers; {@link #drop} has nothing to do with it then. */
  SealedBlock finish() {
    memory.settle();
    memory.release();
    return new SealedBlock(group, List.copyOf(pages));
  }

  /** Gives all memory back, that which was taken beforehand included. */
  void drop() {
    pages.forEach(Page::close);
    memory.release();
  }

  /** Room for the vectors of a block and layer while they are packed. */
  private static final class LayerVectors {
    private float[] keys = {}; // (kvHeads, tokens, keyDim)
    private float[] values = {}; // (kvHeads, tokens, valueDim), where they are stored

    void makeRoom(CacheShape shape) {
      keys = ofSize(keys, Math.multiplyExact(shape.kvHeads() * Page.TOKENS, shape.keyDim()));
      values =
          ofSize(values, Math.multiplyExact(shape.kvHeads() * Page.TOKENS, shape.storedValueDim()));
    }

    private static float[] ofSize(float[] room, int count) {
      return room.length < count ? new float[count] : room;
    }
  }
}
