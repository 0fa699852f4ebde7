package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of a sequence in host memory, allocated from a pool, per layer group. {@link
 * PagedCache} owns the positions, window, sinks and budget.
 *
 * <p>While a block is quantized, its pages exist next to it. Their bytes are therefore reserved in
 * the pool together with those of the block, so that quantization never runs out of memory.
 */
final class BlockTable {
  private static final Kernels KERNELS = new ScalarKernels();

  private final LayerGroups groups;
  private final Precision precision;
  private final MemoryPool pool;
  private final PageCodec codec; // null if nothing is quantized
  private final long pageBytes; // maximum for a block's pages; 0 if nothing is quantized
  private final GroupBlocks[] parts; // by group
  private long reserved;

  /**
   * @param codec quantizes the blocks; null if nothing is quantized
   */
  BlockTable(LayerGroups groups, Precision precision, MemoryPool pool, PageCodec codec) {
    this(groups, precision, pool, codec, new GroupBlocks[groups.count()]);
    for (int i = 0; i < parts.length; i++) {
      parts[i] = new GroupBlocks(groups.get(i), precision, pool);
    }
  }

  private BlockTable(
      LayerGroups groups,
      Precision precision,
      MemoryPool pool,
      PageCodec codec,
      GroupBlocks[] parts) {
    this.groups = groups;
    this.precision = precision;
    this.pool = pool;
    this.codec = codec;
    this.pageBytes = groups.all().stream().mapToLong(this::pageBytes).sum();
    this.parts = parts;
  }

  private long pageBytes(LayerGroup group) {
    return group.quantizes() ? group.pageBytes(codec) : 0;
  }

  /** Shares the first {@code count} blocks with another sequence. */
  BlockTable share(int count, int quantizable) {
    long forPages = quantizable * pageBytes;
    pool.acquire(forPages);
    GroupBlocks[] shared = new GroupBlocks[parts.length];
    for (int i = 0; i < parts.length; i++) {
      shared[i] = parts[i].share(count);
    }
    BlockTable fork = new BlockTable(groups, precision, pool, codec, shared);
    fork.reserved = forPages;
    return fork;
  }

  LayerGroups groups() {
    return groups;
  }

  int count() {
    return parts[0].count();
  }

  /** Returns a layer's part of a block; null if it was evicted. */
  Block get(int layer, int index) {
    return ofLayer(layer).get(index);
  }

  GroupBlocks ofLayer(int layer) {
    return parts[groups.of(layer)];
  }

  /**
   * Adds a restored block.
   *
   * @param stored by group, with memory acquired from the pool; null where evicted
   * @param quantizable whether it will be quantized
   * @throws MemoryFullException if the pool has no memory for its pages; nothing has changed
   */
  void add(Block[] stored, boolean quantizable) {
    long forPages = quantizable ? pageBytes : 0;
    pool.acquire(forPages);
    reserved += forPages;
    for (int i = 0; i < parts.length; i++) {
      if (stored[i] == null) {
        parts[i].addEvicted();
      } else {
        parts[i].add(stored[i]);
      }
    }
  }

  boolean isQuantized(int index) {
    for (GroupBlocks part : parts) {
      if (part.isQuantized(index)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether another sequence shares any layer's part of a block, which forbids writing. */
  boolean isShared(int index) {
    for (GroupBlocks part : parts) {
      if (part.isShared(index)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Allocates dense blocks, all of them or none.
   *
   * @param copied a shared block that this sequence copies; -1 for none
   * @param tokens tokens of each new block
   * @param quantizable how many of the new blocks will be quantized
   * @throws MemoryFullException if the pool has too little memory; nothing has changed then
   */
  void allocate(int copied, int[] tokens, int quantizable) {
    long bytes = quantizable * pageBytes;
    for (GroupBlocks part : parts) {
      bytes += copied >= 0 ? part.copyBytes(copied) : 0;
      for (int count : tokens) {
        bytes += part.denseBytes(count);
      }
    }
    pool.acquire(bytes);
    long[] left = {bytes};
    try {
      if (copied >= 0) {
        copy(copied, left);
      }
      for (int count : tokens) {
        addDense(count, left);
      }
      left[0] -= quantizable * pageBytes;
      reserved += quantizable * pageBytes;
    } finally {
      pool.release(left[0]);
    }
  }

  /**
   * @param left bytes that were acquired from the pool and are not used yet
   */
  private void copy(int block, long[] left) {
    for (GroupBlocks part : parts) {
      if (part.isShared(block)) {
        left[0] -= part.copyBytes(block);
        part.copy(block);
      }
    }
  }

  /** Adds a block to all groups or to none. */
  private void addDense(int tokens, long[] left) {
    List<DenseBlock> blocks = new ArrayList<>();
    try {
      for (GroupBlocks part : parts) {
        left[0] -= part.denseBytes(tokens);
        blocks.add(part.newDense(tokens));
      }
    } catch (RuntimeException | Error e) {
      blocks.forEach(DenseBlock::release);
      throw e;
    }
    for (int i = 0; i < parts.length; i++) {
      parts[i].add(blocks.get(i));
    }
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
    DenseBlock dense = ofLayer(layer).dense(block);
    dense.store(layer, token, position, keyVectors, keysAt, valueVectors, valuesAt);
  }

  /** Writes a layer's vectors of a dense block: (kvHeads, tokens, keyDim or valueDim). */
  void expandLayer(int block, int layer, float[] keyVectors, float[] valueVectors) {
    ofLayer(layer).dense(block).expandLayer(KERNELS, layer, keyVectors, valueVectors);
  }

  /** Quantizes a dense block; after a failure it stays dense. */
  void quantize(int block, int position, SequenceCodec sequence) {
    BlockQuantizer quantizer = beginQuantization(block, position, sequence);
    List<QuantizedBlock> quantized;
    try {
      quantized = quantizer.finish();
    } catch (RuntimeException | Error e) {
      abort(quantizer);
      throw e;
    }
    int next = 0;
    for (GroupBlocks part : parts) {
      if (part.isQuantizable(block)) {
        DenseBlock dense = part.dense(block);
        part.set(block, quantized.get(next++));
        dense.release();
      }
    }
  }

  private BlockQuantizer beginQuantization(int block, int position, SequenceCodec sequence) {
    List<GroupQuantizer> quantizers = new ArrayList<>();
    for (GroupBlocks part : parts) {
      long reservedBytes = Math.min(reserved, pageBytes(part.group()));
      reserved -= reservedBytes;
      if (!part.isQuantizable(block)) {
        pool.release(reservedBytes);
      } else {
        quantizers.add(
            new GroupQuantizer(
                part.dense(block), position, sequence, part.group(), pool, reservedBytes));
      }
    }
    return new BlockQuantizer(quantizers);
  }

  private void abort(BlockQuantizer quantizer) {
    quantizer.abort();
    reserved += pool.tryAcquire(quantizer.reserved()) ? quantizer.reserved() : 0;
  }

  /**
   * Makes a quantized block dense again, with its first tokens as attention used them.
   *
   * @return false if the pool has too little memory; nothing has changed then
   */
  boolean dequantize(int block, int tokens) {
    long bytes = pageBytes;
    for (GroupBlocks part : parts) {
      bytes += part.isQuantized(block) ? part.denseBytes(Page.TOKENS) : 0;
    }
    if (!pool.tryAcquire(bytes)) {
      return false;
    }
    reserved += pageBytes;
    for (GroupBlocks part : parts) {
      if (part.get(block) instanceof QuantizedBlock quantized) {
        part.set(
            block, DenseBlock.expanded(KERNELS, quantized, tokens, part.group(), precision, pool));
        quantized.release();
      }
    }
    return true;
  }

  /**
   * Drops all blocks but the first {@code count}; {@code quantizable} of those may be quantized
   * later.
   */
  void truncate(int count, int quantizable) {
    for (GroupBlocks part : parts) {
      part.truncate(count);
    }
    long wanted = Math.min(reserved, quantizable * pageBytes);
    pool.release(reserved - wanted);
    reserved = wanted;
  }

  /** Evicts what no layer reads after {@code length} tokens, or after a short rewind. */
  void evict(BlockBoundaries boundaries, int length) {
    for (GroupBlocks part : parts) {
      part.evict(part.group().evictedBlocks(boundaries, length));
    }
  }

  /** Returns whether all layers hold what the token after {@code length} others reads. */
  boolean holdsWindows(BlockBoundaries boundaries, int length) {
    for (GroupBlocks part : parts) {
      if (length < part.group().minLength(boundaries.firstPosition(part.evicted()))) {
        return false;
      }
    }
    return true;
  }

  /** Requantizes a page to fewer bits. */
  void requantize(int block, int layer, RequantizingSequence sequence, int level) {
    ((QuantizedBlock) get(layer, block)).requantize(sequence, layer, level, pool);
  }

  /** Returns the bytes of dense blocks, sinks included. */
  long denseBytes() {
    return denseBytesBefore(count());
  }

  private long denseBytesBefore(int end) {
    long bytes = 0;
    for (GroupBlocks part : parts) {
      bytes += part.denseBytesBefore(end);
    }
    return bytes;
  }

  /** Returns the bytes of one block; dense bytes count as window, even those of sinks. */
  CacheBytes bytesOf(int block) {
    long codes = 0;
    long scales = 0;
    long dense = 0;
    for (GroupBlocks part : parts) {
      if (part.get(block) instanceof QuantizedBlock quantized) {
        codes += quantized.codeBytes();
        scales += quantized.scaleBytes();
      } else if (part.get(block) instanceof DenseBlock numbers) {
        dense += numbers.bytes();
      }
    }
    return new CacheBytes(codes, scales, dense, 0, 0);
  }

  /**
   * @param sinkBlocks number of first blocks that are never quantized
   * @param tables bytes of a method's data outside of pages
   */
  CacheBytes bytes(int sinkBlocks, long tables) {
    long codes = 0;
    long scales = 0;
    for (GroupBlocks part : parts) {
      codes += part.codeBytes();
      scales += part.scaleBytes();
    }
    long sinks = denseBytesBefore(sinkBlocks);
    return new CacheBytes(codes, scales, denseBytes() - sinks, sinks, tables);
  }
}
