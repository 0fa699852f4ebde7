package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.Spares;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the blocks of a sequence lie: in this machine's memory, taken from a pool. What the
 * sequence is, its positions, window, sinks and budget, is the business of {@link PagedCache}.
 *
 * <p>While a block is packed, its pages lie beside it. So the bytes of its pages are set aside in
 * the pool together with those of the block: what has been taken in can always be packed.
 */
final class HostBlocks {
  private static final Kernels KERNELS = new ScalarKernels();
  private static final Spares<LayerVectors> ROOMS = new Spares<>(LayerVectors::new);

  private final CacheShape shape;
  private final Precision precision;
  private final MemoryPool pool;
  private final long pageBytes; // of a block's pages at the most; 0 where nothing is packed
  private final List<Block> blocks = new ArrayList<>();
  private long setAside;

  HostBlocks(CacheShape shape, Precision precision, MemoryPool pool, long pageBytes) {
    this.shape = shape;
    this.precision = precision;
    this.pool = pool;
    this.pageBytes = pageBytes;
  }

  /** The first so many blocks for another sequence, which holds them too. */
  HostBlocks share(int count, int packable) {
    HostBlocks fork = new HostBlocks(shape, precision, pool, pageBytes);
    long packing = packable * pageBytes;
    pool.take(packing);
    fork.setAside = packing;
    for (Block block : blocks.subList(0, count)) {
      fork.blocks.add(block.share());
    }
    return fork;
  }

  int count() {
    return blocks.size();
  }

  Block get(int index) {
    return blocks.get(index);
  }

  boolean isSealed(int index) {
    return blocks.get(index) instanceof SealedBlock;
  }

  boolean isShared(int index) {
    return blocks.get(index) instanceof DenseBlock dense && dense.isShared();
  }

  /**
   * Takes the memory of dense blocks, all of it or none.
   *
   * @param copied a block that becomes this sequence's own; -1 for none
   * @param tokens of each new block
   * @param packable how many of the new ones will be packed
   * @throws MemoryFullException where the pool has not as much; nothing has changed then
   */
  void take(int copied, int[] tokens, int packable) {
    long bytes = packable * pageBytes;
    for (int count : tokens) {
      bytes += denseBytes(count);
    }
    if (copied >= 0) {
      bytes += ((DenseBlock) blocks.get(copied)).bytes();
    }
    pool.take(bytes);
    long left = bytes;
    try {
      if (copied >= 0) {
        DenseBlock shared = (DenseBlock) blocks.get(copied);
        left -= shared.bytes();
        blocks.set(copied, shared.copy());
        shared.release();
      }
      for (int count : tokens) {
        left -= denseBytes(count);
        blocks.add(new DenseBlock(shape, count, precision, pool));
      }
      left -= packable * pageBytes;
      setAside += packable * pageBytes;
    } finally {
      pool.giveBack(left);
    }
  }

  private long denseBytes(int tokens) {
    return DenseBlock.bytesFor(shape, tokens, precision);
  }

  void append(
      int layer,
      int block,
      int token,
      int position,
      float[] keyVectors,
      int keysAt,
      float[] valueVectors,
      int valuesAt) {
    DenseBlock dense = (DenseBlock) blocks.get(block);
    dense.store(layer, token, position, keyVectors, keysAt, valueVectors, valuesAt);
  }

  /** All vectors of a dense block in a layer: (kvHeads, tokens, keyDim or valueDim). */
  void expandLayer(int block, int layer, float[] keyVectors, float[] valueVectors) {
    ((DenseBlock) blocks.get(block)).expandLayer(KERNELS, layer, keyVectors, valueVectors);
  }

  /** Packs a dense block; where that fails, it stays as it is. */
  void seal(int block, int position, SequenceCodec codec) {
    DenseBlock dense = (DenseBlock) blocks.get(block);
    blocks.set(block, sealed(dense, position, codec));
    dense.release();
  }

  /** Pages lie together in one arena, but for those that are replaced one by one. */
  private SealedBlock sealed(DenseBlock dense, int position, SequenceCodec codec) {
    LayerVectors room = ROOMS.take();
    room.makeRoom(shape);
    long prepaid = Math.min(setAside, pageBytes);
    setAside -= prepaid;
    List<Page> pages = new ArrayList<>();
    SharedArena memory = new SharedArena(pool, prepaid);
    try {
      for (int layer = 0; layer < shape.layers(); layer++) {
        dense.expandLayer(KERNELS, layer, room.keys, room.values);
        pages.add(codec.seal(memory, layer, position, room.keys, room.values));
        memory = codec instanceof ShrinkingSequence ? memory.next() : memory;
      }
      memory.settle();
      memory.release();
      return new SealedBlock(List.copyOf(pages));
    } catch (RuntimeException | Error e) {
      pages.forEach(Page::close);
      memory.release();
      setAside += pool.tryTake(prepaid) ? prepaid : 0;
      throw e;
    } finally {
      ROOMS.giveBack(room);
    }
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

  /**
   * Makes a packed block dense again, with its first tokens as attention saw them.
   *
   * @return false where the pool has not as much memory; nothing has changed then
   */
  boolean unseal(int block, int tokens) {
    long bytes = denseBytes(Page.TOKENS) + pageBytes;
    if (!pool.tryTake(bytes)) {
      return false;
    }
    setAside += pageBytes;
    Block sealed = blocks.get(block);
    blocks.set(block, DenseBlock.expanded(KERNELS, sealed, tokens, shape, precision, pool));
    sealed.release();
    return true;
  }

  /** Lets go of all blocks but the first so many, of which some may be packed later. */
  void keep(int count, int packable) {
    while (blocks.size() > count) {
      blocks.removeLast().release();
    }
    long wanted = Math.min(setAside, packable * pageBytes);
    pool.giveBack(setAside - wanted);
    setAside = wanted;
  }

  /** Makes a page narrower. */
  void shrink(int block, int layer, ShrinkingSequence codec, int level) {
    ((SealedBlock) blocks.get(block)).shrink(codec, layer, level, pool);
  }

  /** Bytes of blocks that are not packed, sinks included. */
  long denseBytes() {
    long bytes = 0;
    for (int i = 0; i < blocks.size(); i++) {
      bytes += blocks.get(i) instanceof DenseBlock dense ? dense.bytes() : 0;
    }
    return bytes;
  }

  /**
   * @param sinkBlocks blocks from the first on that are never packed
   * @param tables bytes of what a method keeps beside pages
   */
  CacheBytes bytes(int sinkBlocks, long tables) {
    long codes = 0;
    long scales = 0;
    long sinks = 0;
    for (int i = 0; i < blocks.size(); i++) {
      switch (blocks.get(i)) {
        case SealedBlock sealed -> {
          codes += sealed.codeBytes();
          scales += sealed.scaleBytes();
        }
        case DenseBlock dense -> sinks += i < sinkBlocks ? dense.bytes() : 0;
      }
    }
    return new CacheBytes(codes, scales, denseBytes() - sinks, sinks, tables);
  }
}
