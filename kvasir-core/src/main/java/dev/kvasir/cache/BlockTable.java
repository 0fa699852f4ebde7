package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of a sequence by index and layer group. A group evicts its first blocks once none of
 * its layers reads them. {@link PagedCache} owns the length, the residual window and the budget.
 *
 * <p>While a block is quantized, its pages exist next to it. Their bytes are therefore reserved in
 * the pool together with those of the block, so that quantization never runs out of memory.
 */
final class BlockTable {
  private static final Kernels KERNELS = new ScalarKernels();

  private final BlockPool pool;
  private final LayerGroups groups;
  private final BlockBoundaries boundaries;
  private final MemoryPool memory;
  private final List<Block[]> rows = new ArrayList<>(); // by group, null where evicted
  private final int[] evicted; // by group, how many of the first blocks
  private long reserved; // bytes acquired for pages of blocks that are still dense

  BlockTable(BlockPool pool) {
    this.pool = pool;
    this.groups = pool.groups();
    this.boundaries = pool.boundaries();
    this.memory = pool.memory();
    this.evicted = new int[groups.count()];
  }

  /**
   * Shares the first {@code count} blocks with another sequence.
   *
   * @param windowBegin first block that is neither a sink nor quantized
   * @throws MemoryFullException if the pool has no memory for the pages of dense blocks
   */
  BlockTable share(int count, int windowBegin) {
    long forPages = quantizable(count, windowBegin) * pool.pageBytes();
    memory.acquire(forPages);
    BlockTable fork = new BlockTable(pool);
    fork.reserved = forPages;
    for (int index = 0; index < count; index++) {
      Block[] shared = rows.get(index).clone();
      for (int i = 0; i < shared.length; i++) {
        shared[i] = shared[i] == null ? null : shared[i].share();
      }
      fork.rows.add(shared);
    }
    System.arraycopy(evicted, 0, fork.evicted, 0, evicted.length);
    return fork;
  }

  /** Returns how many of the first {@code count} blocks are dense and will be quantized. */
  private int quantizable(int count, int windowBegin) {
    return pool.hasCodec() ? Math.max(0, count - windowBegin) : 0;
  }

  BlockPool pool() {
    return pool;
  }

  LayerGroups groups() {
    return groups;
  }

  int count() {
    return rows.size();
  }

  /** Returns a layer's part of a block; null if it was evicted. */
  Block get(int layer, int index) {
    return rows.get(index)[groups.of(layer)];
  }

  DenseBlock dense(int layer, int index) {
    return (DenseBlock) get(layer, index);
  }

  /** Returns the parts of a block by group; null where evicted. */
  Block[] row(int index) {
    return rows.get(index);
  }

  /** Returns the index of a group's first retained block. */
  int evicted(int group) {
    return evicted[group];
  }

  /**
   * Adds a restored block.
   *
   * @param stored by group, with memory acquired from the pool; null where evicted
   * @param quantizable whether it will be quantized
   * @throws MemoryFullException if the pool has no memory for its pages; nothing has changed
   */
  void add(Block[] stored, boolean quantizable) {
    for (int i = 0; i < stored.length; i++) {
      if (stored[i] == null && evicted[i] < count()) {
        throw new IllegalStateException("a block is evicted after one that is retained");
      }
    }
    long forPages = quantizable ? pool.pageBytes() : 0;
    memory.acquire(forPages);
    reserved += forPages;
    for (int i = 0; i < stored.length; i++) {
      evicted[i] += stored[i] == null ? 1 : 0;
    }
    rows.add(stored);
  }

  boolean isQuantized(int index) {
    for (Block block : rows.get(index)) {
      if (block instanceof QuantizedBlock) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether another sequence shares any layer's part of a block, which forbids writing. */
  private boolean isShared(int index) {
    for (Block block : rows.get(index)) {
      if (isShared(block)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isShared(Block block) {
    return block instanceof DenseBlock dense && dense.isShared();
  }

  /**
   * Allocates the missing blocks, all of them or none. If a fork shares the block of the next
   * token, this sequence gets a copy of it. If the pool is too full for the copy and the fork has
   * been closed meanwhile, none is needed.
   *
   * @param length committed positions
   * @param wanted positions to allocate
   * @param windowBegin first block that is neither a sink nor quantized
   * @throws MemoryFullException if the pool has too little memory; nothing has changed then
   */
  void allocate(int length, int wanted, int windowBegin) {
    int next = boundaries.blockOf(length);
    boolean copies = next < count() && isShared(next);
    try {
      allocateAndCopy(copies ? next : -1, wanted, windowBegin);
    } catch (MemoryFullException e) {
      if (!copies || isShared(next)) {
        throw e;
      }
      allocateAndCopy(-1, wanted, windowBegin);
    }
  }

  /**
   * @param copied a shared block that this sequence must copy; -1 for none
   */
  private void allocateAndCopy(int copied, int wanted, int windowBegin) {
    int end = count();
    while (boundaries.firstPosition(end) < wanted) {
      end++;
    }
    if (copied < 0 && end == count()) {
      return;
    }
    int quantizable = quantizable(end, windowBegin) - quantizable(count(), windowBegin);
    long forPages = quantizable * pool.pageBytes();
    long bytes = forPages + (copied < 0 ? 0 : copyBytes(rows.get(copied)));
    for (int index = count(); index < end; index++) {
      bytes += pool.denseBytes(boundaries.capacity(index));
    }
    memory.acquire(bytes);
    long[] left = {bytes};
    try {
      if (copied >= 0) {
        copy(rows.get(copied), left);
      }
      while (count() < end) {
        rows.add(pool.newDense(boundaries.capacity(count()), left));
      }
      left[0] -= forPages;
      reserved += forPages;
    } finally {
      memory.release(left[0]);
    }
  }

  private static long copyBytes(Block[] row) {
    long bytes = 0;
    for (Block block : row) {
      bytes += isShared(block) ? ((DenseBlock) block).bytes() : 0;
    }
    return bytes;
  }

  /**
   * Replaces the shared parts of a block by copies.
   *
   * @param left bytes that were acquired from the pool and are not used yet
   */
  private static void copy(Block[] row, long[] left) {
    for (int i = 0; i < row.length; i++) {
      if (row[i] instanceof DenseBlock shared && shared.isShared()) {
        left[0] -= shared.bytes();
        row[i] = shared.copy();
        shared.release();
      }
    }
  }

  /** Quantizes a dense block; after a failure it stays dense. */
  void quantize(int index, int position, SequenceCodec sequence) {
    Block[] row = rows.get(index);
    GroupQuantizer[] quantizers = beginQuantization(row, position, sequence);
    QuantizedBlock[] quantized = new QuantizedBlock[row.length];
    try {
      for (GroupQuantizer quantizer : quantizers) {
        if (quantizer != null) {
          quantizer.quantizeLayers();
        }
      }
      for (int i = 0; i < row.length; i++) {
        quantized[i] = quantizers[i] == null ? null : quantizers[i].finish();
      }
    } catch (RuntimeException | Error e) {
      abort(quantizers);
      throw e;
    }
    for (int i = 0; i < row.length; i++) {
      if (quantized[i] != null) {
        Block dense = row[i];
        row[i] = quantized[i];
        dense.release();
      }
    }
  }

  /** Returns a quantizer by group; null for groups that are not quantized or have evicted it. */
  private GroupQuantizer[] beginQuantization(Block[] row, int position, SequenceCodec sequence) {
    GroupQuantizer[] quantizers = new GroupQuantizer[row.length];
    for (int i = 0; i < row.length; i++) {
      LayerGroup group = groups.get(i);
      long reservedBytes = Math.min(reserved, pool.pageBytes(group));
      reserved -= reservedBytes;
      if (group.quantizes() && row[i] instanceof DenseBlock dense) {
        quantizers[i] = new GroupQuantizer(dense, position, sequence, group, memory, reservedBytes);
      } else {
        memory.release(reservedBytes);
      }
    }
    return quantizers;
  }

  private void abort(GroupQuantizer[] quantizers) {
    long bytes = 0;
    for (GroupQuantizer quantizer : quantizers) {
      if (quantizer != null) {
        quantizer.abort();
        bytes += quantizer.reserved();
      }
    }
    reserved += memory.tryAcquire(bytes) ? bytes : 0;
  }

  /**
   * Makes a quantized block dense again, with its first tokens as attention used them.
   *
   * @return false if the pool has too little memory; nothing has changed then
   */
  boolean dequantize(int index, int tokens) {
    Block[] row = rows.get(index);
    long bytes = pool.pageBytes();
    for (int i = 0; i < row.length; i++) {
      bytes += row[i] instanceof QuantizedBlock ? pool.denseBytes(groups.get(i), Page.TOKENS) : 0;
    }
    if (!memory.tryAcquire(bytes)) {
      return false;
    }
    reserved += pool.pageBytes();
    for (int i = 0; i < row.length; i++) {
      if (row[i] instanceof QuantizedBlock quantized) {
        DenseBlock dense = pool.newDense(groups.get(i), Page.TOKENS);
        dense.storeExpanded(KERNELS, quantized, tokens);
        row[i] = dense;
        quantized.release();
      }
    }
    return true;
  }

  /**
   * Drops all blocks but the first {@code count}.
   *
   * @param windowBegin first block that is neither a sink nor quantized
   */
  void truncate(int count, int windowBegin) {
    while (count() > count) {
      BlockPool.release(rows.removeLast());
    }
    for (int i = 0; i < evicted.length; i++) {
      evicted[i] = Math.min(evicted[i], count);
    }
    long wanted = Math.min(reserved, quantizable(count, windowBegin) * pool.pageBytes());
    memory.release(reserved - wanted);
    reserved = wanted;
  }

  /** Evicts what no layer reads after {@code length} tokens, or after a short rewind. */
  void evict(int length) {
    for (int i = 0; i < evicted.length; i++) {
      evict(i, groups.get(i).evictedBlocks(boundaries, length));
    }
  }

  /** Evicts the first {@code count} blocks of a group. */
  void evict(int group, int count) {
    for (; evicted[group] < count; evicted[group]++) {
      Block[] row = rows.get(evicted[group]);
      row[group].release();
      row[group] = null;
    }
  }

  /** Returns whether all layers hold what the token after {@code length} others reads. */
  boolean holdsWindows(int length) {
    for (int i = 0; i < evicted.length; i++) {
      if (length < groups.get(i).minLength(boundaries.firstPosition(evicted[i]))) {
        return false;
      }
    }
    return true;
  }

  /** Requantizes a page to fewer bits. */
  void requantize(int index, int layer, RequantizingSequence sequence, int level) {
    ((QuantizedBlock) get(layer, index)).requantize(sequence, layer, level, memory);
  }

  /** Returns the bytes of dense blocks, sinks included. */
  long denseBytes() {
    return denseBytesBefore(count());
  }

  /** Returns the bytes of dense blocks before {@code end}. */
  long denseBytesBefore(int end) {
    long bytes = 0;
    for (int index = 0; index < Math.min(end, count()); index++) {
      for (Block block : rows.get(index)) {
        bytes += block instanceof DenseBlock dense ? dense.bytes() : 0;
      }
    }
    return bytes;
  }
}
