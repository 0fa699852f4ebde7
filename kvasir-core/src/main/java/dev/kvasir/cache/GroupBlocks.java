package dev.kvasir.cache;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of a sequence in the layers of a group. Those from the first on that nobody reads any
 * more are let go.
 */
final class GroupBlocks {
  private final LayerGroup group;
  private final Precision precision;
  private final MemoryPool pool;
  private final List<Block> blocks = new ArrayList<>();
  private int evicted; // blocks before the first of those

  GroupBlocks(LayerGroup group, Precision precision, MemoryPool pool) {
    this.group = group;
    this.precision = precision;
    this.pool = pool;
  }

  /** The first so many blocks for another sequence, which holds them too. */
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

  /** The first block that is held. */
  int evicted() {
    return evicted;
  }

  /** Null where it has been let go. */
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

  /** Adds a block that is let go already; nothing is held before it. */
  void addEvicted() {
    if (!blocks.isEmpty()) {
      throw new IllegalStateException("a block is let go behind one that is held");
    }
    evicted++;
  }

  /** Of a block that is not packed. */
  long denseBytes(int tokens) {
    return DenseBlock.bytesFor(group.shape(), tokens, precision);
  }

  /** A block whose bytes have been taken from the pool. */
  DenseBlock newDense(int tokens) {
    return new DenseBlock(group, tokens, precision, pool);
  }

  boolean isQuantized(int index) {
    return get(index) instanceof QuantizedBlock;
  }

  /** Whether a block that has left the window is packed: one that was let go before is not. */
  boolean isQuantizable(int index) {
    return group.quantizes() && get(index) instanceof DenseBlock;
  }

  boolean isShared(int index) {
    return get(index) instanceof DenseBlock dense && dense.isShared();
  }

  /** Bytes of a copy that this sequence needs to write to a block; 0 where it needs none. */
  long copyBytes(int index) {
    return isShared(index) ? dense(index).bytes() : 0;
  }

  /** Makes a block this sequence's own, by a copy whose bytes have been taken from the pool. */
  void copy(int index) {
    DenseBlock shared = dense(index);
    set(index, shared.copy());
    shared.release();
  }

  /** Lets go of all blocks but the first so many. */
  void truncate(int count) {
    while (count() > count && !blocks.isEmpty()) {
      blocks.removeLast().release();
    }
    evicted = Math.min(evicted, count);
  }

  /** Lets go of the first so many blocks. */
  void evict(int count) {
    while (evicted < count) {
      blocks.removeFirst().release();
      evicted++;
    }
  }

  /** Bytes of blocks that are not packed, among the first so many. */
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
