package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.ObjectPool;
import dev.kvasir.memory.SharedArena;
import java.util.ArrayList;
import java.util.List;

/**
 * Quantizes a full block in the layers of a group. The pages exist next to the dense block until
 * all are complete. They share one arena, except pages that are replaced one by one.
 */
final class GroupQuantizer {
  private static final Kernels KERNELS = new ScalarKernels();
  private static final ObjectPool<LayerScratch> SCRATCH_POOL = new ObjectPool<>(LayerScratch::new);

  private final DenseBlock dense;
  private final int position;
  private final SequenceCodec codec;
  private final LayerGroup group;
  private final long reserved;
  private final List<Page> pages = new ArrayList<>();
  private SharedArena memory;

  /**
   * @param position position of the block's first token
   * @param reserved bytes that were acquired from the pool in advance
   */
  GroupQuantizer(
      DenseBlock dense,
      int position,
      SequenceCodec codec,
      LayerGroup group,
      MemoryPool pool,
      long reserved) {
    this.dense = dense;
    this.position = position;
    this.codec = codec;
    this.group = group;
    this.reserved = reserved;
    this.memory = new SharedArena(pool, reserved);
  }

  long reserved() {
    return reserved;
  }

  void quantizeLayers() {
    LayerScratch scratch = SCRATCH_POOL.acquire();
    try {
      scratch.ensureCapacity(group.shape());
      for (int i = 0; i < group.count(); i++) {
        int layer = group.layer(i);
        dense.expandLayer(KERNELS, layer, scratch.keys, scratch.values);
        pages.add(codec.quantize(memory, layer, position, scratch.keys, scratch.values));
        memory = codec instanceof RequantizingSequence ? memory.next() : memory;
      }
    } finally {
      SCRATCH_POOL.release(scratch);
    }
  }

  /** Returns the quantized block once it has all layers; do not call {@link #abort} after that. */
  QuantizedBlock finish() {
    memory.releaseUnused();
    memory.release();
    return new QuantizedBlock(group, List.copyOf(pages));
  }

  /** Releases all memory, the reserved bytes included. */
  void abort() {
    pages.forEach(Page::close);
    memory.release();
  }

  /** Scratch memory for the vectors of one layer of a block. */
  private static final class LayerScratch {
    private float[] keys = {}; // (kvHeads, tokens, keyDim)
    private float[] values = {}; // (kvHeads, tokens, valueDim), where they are stored

    void ensureCapacity(CacheShape shape) {
      keys = ofSize(keys, Math.multiplyExact(shape.kvHeads() * Page.TOKENS, shape.keyDim()));
      values =
          ofSize(values, Math.multiplyExact(shape.kvHeads() * Page.TOKENS, shape.storedValueDim()));
    }

    private static float[] ofSize(float[] scratch, int count) {
      return scratch.length < count ? new float[count] : scratch;
    }
  }
}
