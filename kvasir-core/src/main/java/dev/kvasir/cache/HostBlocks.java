package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingSequence;
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
final class HostBlocks {
  private static final Kernels KERNELS = new ScalarKernels();

  private final LayerGroups groups;
  private final Precision precision;
  private final MemoryPool pool;
  private final PageCodec codec; // null where nothing is packed
  private final long pageBytes; // of a block's pages at the most; 0 where nothing is packed
  private final LayerBlocks[] parts; // by group
  private long setAside;

  /**
   * @param codec that blocks are packed by; null where nothing is
   */
  HostBlocks(LayerGroups groups, Precision precision, MemoryPool pool, PageCodec codec) {
    this(groups, precision, pool, codec, new LayerBlocks[groups.count()]);
    for (int i = 0; i < parts.length; i++) {
      parts[i] = new LayerBlocks(groups.get(i), precision, pool);
    }
  }

  private HostBlocks(
      LayerGroups groups,
      Precision precision,
      MemoryPool pool,
      PageCodec codec,
      LayerBlocks[] parts) {
    this.groups = groups;
    this.precision = precision;
    this.pool = pool;
    this.codec = codec;
    this.pageBytes = groups.all().stream().mapToLong(this::pageBytes).sum();
    this.parts = parts;
  }

  private long pageBytes(LayerGroup group) {
    return group.packs() ? group.pageBytes(codec) : 0;
  }

  /** The first so many blocks for another sequence, which holds them too. */
  HostBlocks share(int count, int packable) {
    long packing = packable * pageBytes;
    pool.take(packing);
    LayerBlocks[] shared = new LayerBlocks[parts.length];
    for (int i = 0; i < parts.length; i++) {
      shared[i] = parts[i].share(count);
    }
    HostBlocks fork = new HostBlocks(groups, precision, pool, codec, shared);
    fork.setAside = packing;
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

  LayerBlocks ofLayer(int layer) {
    return parts[groups.of(layer)];
  }

  /**
   * Adds a block that was stored.
   *
   * @param stored by group, whose memory was taken from the pool; null where one has let go of it
   * @param packable whether it will be packed
   * @throws MemoryFullException where the pool has no memory for its pages; nothing has changed
   */
  void add(Block[] stored, boolean packable) {
    long packing = packable ? pageBytes : 0;
    pool.take(packing);
    setAside += packing;
    for (int i = 0; i < parts.length; i++) {
      if (stored[i] == null) {
        parts[i].addGone();
      } else {
        parts[i].add(stored[i]);
      }
    }
  }

  boolean isSealed(int index) {
    for (LayerBlocks part : parts) {
      if (part.isSealed(index)) {
        return true;
      }
    }
    return false;
  }

  /** Whether any layer's part of a block is another sequence's too, and must not be written. */
  boolean isShared(int index) {
    for (LayerBlocks part : parts) {
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
  void take(int copied, int[] tokens, int packable) {
    long bytes = packable * pageBytes;
    for (LayerBlocks part : parts) {
      bytes += copied >= 0 ? part.copyBytes(copied) : 0;
      for (int count : tokens) {
        bytes += part.denseBytes(count);
      }
    }
    pool.take(bytes);
    long[] left = {bytes};
    try {
      if (copied >= 0) {
        copy(copied, left);
      }
      for (int count : tokens) {
        addDense(count, left);
      }
      left[0] -= packable * pageBytes;
      setAside += packable * pageBytes;
    } finally {
      pool.giveBack(left[0]);
    }
  }

  /**
   * @param left bytes that were taken from the pool and nobody has
   */
  private void copy(int block, long[] left) {
    for (LayerBlocks part : parts) {
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
      for (LayerBlocks part : parts) {
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
  void seal(int block, int position, SequenceCodec sequence) {
    BlockPacking packing = begin(block, position, sequence);
    List<SealedBlock> sealed;
    try {
      sealed = packing.finish();
    } catch (RuntimeException | Error e) {
      drop(packing);
      throw e;
    }
    int next = 0;
    for (LayerBlocks part : parts) {
      if (part.isPackable(block)) {
        DenseBlock dense = part.dense(block);
        part.set(block, sealed.get(next++));
        dense.release();
      }
    }
  }

  private BlockPacking begin(int block, int position, SequenceCodec sequence) {
    List<Packing> packings = new ArrayList<>();
    for (LayerBlocks part : parts) {
      long prepaid = Math.min(setAside, pageBytes(part.group()));
      setAside -= prepaid;
      if (!part.isPackable(block)) {
        pool.giveBack(prepaid);
      } else {
        packings.add(
            new Packing(part.dense(block), position, sequence, part.group(), pool, prepaid));
      }
    }
    return new BlockPacking(packings);
  }

  private void drop(BlockPacking packing) {
    packing.drop();
    setAside += pool.tryTake(packing.prepaid()) ? packing.prepaid() : 0;
  }

  /**
   * Makes a packed block dense again, with its first tokens as attention saw them.
   *
   * @return false where the pool has not as much memory; nothing has changed then
   */
  boolean unseal(int block, int tokens) {
    long bytes = pageBytes;
    for (LayerBlocks part : parts) {
      bytes += part.isSealed(block) ? part.denseBytes(Page.TOKENS) : 0;
    }
    if (!pool.tryTake(bytes)) {
      return false;
    }
    setAside += pageBytes;
    for (LayerBlocks part : parts) {
      if (part.get(block) instanceof SealedBlock sealed) {
        part.set(
            block, DenseBlock.expanded(KERNELS, sealed, tokens, part.group(), precision, pool));
        sealed.release();
      }
    }
    return true;
  }

  /** Lets go of all blocks but the first so many, of which some may be packed later. */
  void keep(int count, int packable) {
    for (LayerBlocks part : parts) {
      part.keep(count);
    }
    long wanted = Math.min(setAside, packable * pageBytes);
    pool.giveBack(setAside - wanted);
    setAside = wanted;
  }

  /** Lets go of what no layer reads after so many tokens, or after a short rewind. */
  void letGo(BlockPlaces places, int length) {
    for (LayerBlocks part : parts) {
      part.letGo(part.group().gone(places, length));
    }
  }

  /** Whether all layers have what a token behind so many reads. */
  boolean holdsWindows(BlockPlaces places, int length) {
    for (LayerBlocks part : parts) {
      if (length < part.group().leastLength(places.firstPosition(part.gone()))) {
        return false;
      }
    }
    return true;
  }

  /** Makes a page narrower. */
  void shrink(int block, int layer, ShrinkingSequence sequence, int level) {
    ((SealedBlock) get(layer, block)).shrink(sequence, layer, level, pool);
  }

  /** Bytes of blocks that are not packed, sinks included. */
  long denseBytes() {
    return denseBytesBefore(count());
  }

  private long denseBytesBefore(int end) {
    long bytes = 0;
    for (LayerBlocks part : parts) {
      bytes += part.denseBytesBefore(end);
    }
    return bytes;
  }

  /** Bytes of one block; those that are not packed as if it were none of the sinks. */
  CacheBytes bytesOf(int block) {
    long codes = 0;
    long scales = 0;
    long dense = 0;
    for (LayerBlocks part : parts) {
      if (part.get(block) instanceof SealedBlock sealed) {
        codes += sealed.codeBytes();
        scales += sealed.scaleBytes();
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
    for (LayerBlocks part : parts) {
      codes += part.codeBytes();
      scales += part.scaleBytes();
    }
    long sinks = denseBytesBefore(sinkBlocks);
    return new CacheBytes(codes, scales, denseBytes() - sinks, sinks, tables);
  }
}
