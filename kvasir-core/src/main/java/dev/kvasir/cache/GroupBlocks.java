package dev.kvasir.cache;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of a sequence in the layers of a group. The first blocks are evicted once no layer
 * reads them.
 */
final class GroupBlocks {
  private final LayerGroup group;
  private final Precision precision;
  private final MemoryPool pool;
  private final List<Block> blocks = new ArrayList<>();
  private int evicted; // blocks before the first retained one

  GroupBlocks(LayerGroup group, Precision precision, MemoryPool pool) {
    this.group = group;
    this.precision = precision;
    this.pool = pool;
  }

  /** Shares the first {@code count} blocks with another sequence. */
  GroupBlocks share(int count) {
    GroupBlocks fork = new GroupBlocks(group, precision, pool);
    fork.evicted = evicted;
    for (int i = evicted; i < count; i++) {
      fork.blocks.add(get(i).share());
    }
    return fork;
  }

  LayerGroup group() {
    return group;
  }

  int count() {
    return evicted + blocks.size();
  }

  /** Returns the index of the first retained block. */
  int evicted() {
    return evicted;
  }

  /** Returns a block; null if it was evicted. */
  Block get(int index) {
    return index < evicted ? null : blocks.get(index - evicted);
  }

  DenseBlock dense(int index) {
    return (DenseBlock) get(index);
  }

  void set(int index, Block block) {
    blocks.set(index - evicted, block);
  }

  void add(Block block) {
    blocks.add(block);
  }

  /** Adds an evicted block; no retained block may precede it. */
  void addEvicted() {
    if (!blocks.isEmpty()) {
      throw new IllegalStateException("a block is evicted after one that is retained");
    }
    evicted++;
  }

  /** Returns the bytes of a dense block. */
  long denseBytes(int tokens) {
    return DenseBlock.bytesFor(group.shape(), tokens, precision);
  }

  /** Creates a block whose bytes have been acquired from the pool. */
  DenseBlock newDense(int tokens) {
    return new DenseBlock(group, tokens, precision, pool);
  }

  boolean isQuantized(int index) {
    return get(index) instanceof QuantizedBlock;
  }

  /** Returns whether a block behind the window is quantized; an evicted one is not. */
  boolean isQuantizable(int index) {
    return group.quantizes() && get(index) instanceof DenseBlock;
  }

  boolean isShared(int index) {
    return get(index) instanceof DenseBlock dense && dense.isShared();
  }

  /** Returns the bytes of the copy needed to write to a block; 0 if no copy is needed. */
  long copyBytes(int index) {
    return isShared(index) ? dense(index).bytes() : 0;
  }

  /** Replaces a shared block by a copy, whose bytes have been acquired from the pool. */
  void copy(int index) {
    DenseBlock shared = dense(index);
    set(index, shared.copy());
    shared.release();
  }

  /** Drops all blocks but the first {@code count}. */
  void truncate(int count) {
    while (count() > count && !blocks.isEmpty()) {
      blocks.removeLast().release();
    }
    evicted = Math.min(evicted, count);
  }

  /** Evicts the first {@code count} blocks. */
  void evict(int count) {
    while (evicted < count) {
      blocks.removeFirst().release();
      evicted++;
    }
  }

  /** Returns the bytes of dense blocks before {@code end}. */
  long denseBytesBefore(int end) {
    long bytes = 0;
    for (int i = evicted; i < Math.min(end, count()); i++) {
      bytes += get(i) instanceof DenseBlock dense ? dense.bytes() : 0;
    }
    return bytes;
  }

  long codeBytes() {
    long bytes = 0;
    for (int i = 0; i < blocks.size(); i++) {
      bytes += blocks.get(i) instanceof QuantizedBlock quantized ? quantized.codeBytes() : 0;
    }
    return bytes;
  }

  long scaleBytes() {
    long bytes = 0;
    for (int i = 0; i < blocks.size(); i++) {
      bytes += blocks.get(i) instanceof QuantizedBlock quantized ? quantized.scaleBytes() : 0;
    }
    return bytes;
  }
}
