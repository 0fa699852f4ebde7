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
 * Where the blocks of a sequence lie: in this machine's memory, taken from a pool, group by group
 * of its layers. What the sequence is, its positions, window, sinks and budget, is the business of
 * {@link PagedCache}.
 *
 * <p>While a block is packed, its pages lie beside it. So the bytes of its pages are set aside in
 * the pool together with those of the block: what has been taken in can always be packed.
 */
final class BlockTable {
  private static final Kernels KERNELS = new ScalarKernels();

  private final LayerGroups groups;
  private final Precision precision;
  private final MemoryPool pool;
  private final PageCodec codec; // null where nothing is packed
  private final long pageBytes; // of a block's pages at the most; 0 where nothing is packed
  private final GroupBlocks[] parts; // by group
  private long reserved;

  /**
   * @param codec that blocks are packed by; null where nothing is
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

  /** The first so many blocks for another sequence, which holds them too. */
  BlockTable share(int count, int quantizable) {
    long packing = quantizable * pageBytes;
    pool.acquire(packing);
    GroupBlocks[] shared = new GroupBlocks[parts.length];
    for (int i = 0; i < parts.length; i++) {
      shared[i] = parts[i].share(count);
    }
    BlockTable fork = new BlockTable(groups, precision, pool, codec, shared);
    fork.reserved = packing;
    return fork;
  }

  LayerGroups groups() {
    return groups;
  }

  int count() {
    return parts[0].count();
  }

  /** A block as a layer has it; null where that has let go of it. */
  Block get(int layer, int index) {
    return ofLayer(layer).get(index);
  }

  GroupBlocks ofLayer(int layer) {
    return parts[groups.of(layer)];
  }

  /**
   * Adds a block that was stored.
   *
   * @param stored by group, whose memory was taken from the pool; null where one has let go of it
   * @param packable whether it will be packed
   * @throws MemoryFullException where the pool has no memory for its pages; nothing has changed
   */
  void add(Block[] stored, boolean quantizable) {
    long packing = quantizable ? pageBytes : 0;
    pool.acquire(packing);
    reserved += packing;
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

  /** Whether any layer's part of a block is another sequence's too, and must not be written. */
  boolean isShared(int index) {
    for (GroupBlocks part : parts) {
      if (part.isShared(index)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes the memory of dense blocks, all of it or none.
   *
   * @param copied a block that becomes this sequence's own; -1 for none
   * @param tokens of each new block
   * @param packable how many of the new ones will be packed
   * @throws MemoryFullException where the pool has not as much; nothing has changed then
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
   * @param left bytes that were taken from the pool and nobody has
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

  /** All vectors of a dense block in a layer: (kvHeads, tokens, keyDim or valueDim). */
  void expandLayer(int block, int layer, float[] keyVectors, float[] valueVectors) {
    ofLayer(layer).dense(block).expandLayer(KERNELS, layer, keyVectors, valueVectors);
  }

  /** Packs a dense block; where that fails, it stays as it is. */
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
   * Makes a packed block dense again, with its first tokens as attention saw them.
   *
   * @return false where the pool has not as much memory; nothing has changed then
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

  /** Lets go of all blocks but the first so many, of which some may be packed later. */
  void truncate(int count, int quantizable) {
    for (GroupBlocks part : parts) {
      part.truncate(count);
    }
    long wanted = Math.min(reserved, quantizable * pageBytes);
    pool.release(reserved - wanted);
    reserved = wanted;
  }

  /** Lets go of what no layer reads after so many tokens, or after a short rewind. */
  void evict(BlockBoundaries boundaries, int length) {
    for (GroupBlocks part : parts) {
      part.evict(part.group().evictedBlocks(boundaries, length));
    }
  }

  /** Whether all layers have what a token behind so many reads. */
  boolean holdsWindows(BlockBoundaries boundaries, int length) {
    for (GroupBlocks part : parts) {
      if (length < part.group().minLength(boundaries.firstPosition(part.evicted()))) {
        return false;
      }
    }
    return true;
  }

  /** Makes a page narrower. */
  void requantize(int block, int layer, RequantizingSequence sequence, int level) {
    ((QuantizedBlock) get(layer, block)).requantize(sequence, layer, level, pool);
  }

  /** Bytes of blocks that are not packed, sinks included. */
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

  /** Bytes of one block; those that are not packed as if it were none of the sinks. */
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
   * @param sinkBlocks blocks from the first on that are never packed
   * @param tables bytes of what a method keeps beside pages
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
