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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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

  private final CacheShape shape;
  private final Precision precision;
  private final MemoryPool pool;
  private final long pageBytes; // of a block's pages at the most; 0 where nothing is packed
  private final List<Block> blocks = new ArrayList<>();
  private final Deque<Packing> ahead = new ArrayDeque<>(); // of the next blocks to be sealed
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

  /** Adds a block that was packed earlier, whose memory was taken from the pool. */
  void add(SealedBlock block) {
    blocks.add(block);
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
    Packing packing = ahead.isEmpty() ? begin(dense, position, codec) : ahead.removeFirst();
    try {
      blocks.set(block, packing.finish());
    } catch (RuntimeException | Error e) {
      drop(packing);
      throw e;
    }
    dense.release();
  }

  private Packing begin(DenseBlock dense, int position, SequenceCodec codec) {
    long prepaid = Math.min(setAside, pageBytes);
    setAside -= prepaid;
    return new Packing(dense, position, codec, shape, pool, prepaid);
  }

  private void drop(Packing packing) {
    packing.drop();
    setAside += pool.tryTake(packing.prepaid()) ? packing.prepaid() : 0;
  }

  /** Packs the next layer of the last block that was begun ahead, or begins with this one. */
  void sealAhead(int block, int position, SequenceCodec codec) {
    if (aheadIsWhole()) {
      ahead.add(begin((DenseBlock) blocks.get(block), position, codec));
    }
    ahead.getLast().sealLayer();
  }

  /** Blocks that pages were made of ahead, in whole or in part. */
  int ahead() {
    return ahead.size();
  }

  /** Whether all layers of those are packed. */
  boolean aheadIsWhole() {
    return ahead.isEmpty() || ahead.getLast().hasAllLayers();
  }

  /** Forgets pages that were made ahead. */
  void dropAhead() {
    while (!ahead.isEmpty()) {
      drop(ahead.removeLast());
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
    dropAhead();
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
    codes += ahead.stream().mapToLong(Packing::codeBytes).sum();
    scales += ahead.stream().mapToLong(Packing::scaleBytes).sum();
    return new CacheBytes(codes, scales, denseBytes() - sinks, sinks, tables);
  }
}
