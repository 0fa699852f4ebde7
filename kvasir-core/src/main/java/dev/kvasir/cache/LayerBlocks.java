package dev.kvasir.cache;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of a sequence in the layers of a group. Those from the first on that nobody reads any
 * more are let go.
 */
final class LayerBlocks {
  private final LayerGroup group;
  private final Precision precision;
  private final MemoryPool pool;
  private final List<Block> held = new ArrayList<>();
  private int gone; // blocks before the first of those

  LayerBlocks(LayerGroup group, Precision precision, MemoryPool pool) {
    this.group = group;
    this.precision = precision;
    this.pool = pool;
  }

  /** The first so many blocks for another sequence, which holds them too. */
  LayerBlocks share(int count) {
    LayerBlocks fork = new LayerBlocks(group, precision, pool);
    fork.gone = gone;
    for (int i = gone; i < count; i++) {
      fork.held.add(get(i).share());
    }
    return fork;
  }

  LayerGroup group() {
    return group;
  }

  int count() {
    return gone + held.size();
  }

  /** The first block that is held. */
  int gone() {
    return gone;
  }

  /** Null where it has been let go. */
  Block get(int index) {
    return index < gone ? null : held.get(index - gone);
  }

  DenseBlock dense(int index) {
    return (DenseBlock) get(index);
  }

  void set(int index, Block block) {
    held.set(index - gone, block);
  }

  void add(Block block) {
    held.add(block);
  }

  /** Adds a block that is let go already; nothing is held before it. */
  void addGone() {
    if (!held.isEmpty()) {
      throw new IllegalStateException("a block is let go behind one that is held");
    }
    gone++;
  }

  /** Of a block that is not packed. */
  long denseBytes(int tokens) {
    return DenseBlock.bytesFor(group.shape(), tokens, precision);
  }

  /** A block whose bytes have been taken from the pool. */
  DenseBlock newDense(int tokens) {
    return new DenseBlock(group, tokens, precision, pool);
  }

  boolean isSealed(int index) {
    return get(index) instanceof SealedBlock;
  }

  /** Whether a block that has left the window is packed: one that was let go before is not. */
  boolean isPackable(int index) {
    return group.packs() && get(index) instanceof DenseBlock;
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
  void keep(int count) {
    while (count() > count && !held.isEmpty()) {
      held.removeLast().release();
    }
    gone = Math.min(gone, count);
  }

  /** Lets go of the first so many blocks. */
  void letGo(int count) {
    while (gone < count) {
      held.removeFirst().release();
      gone++;
    }
  }

  /** Bytes of blocks that are not packed, among the first so many. */
  long denseBytesBefore(int end) {
    long bytes = 0;
    for (int i = gone; i < Math.min(end, count()); i++) {
      bytes += get(i) instanceof DenseBlock dense ? dense.bytes() : 0;
    }
    return bytes;
  }

  long codeBytes() {
    long bytes = 0;
    for (int i = 0; i < held.size(); i++) {
      bytes += held.get(i) instanceof SealedBlock sealed ? sealed.codeBytes() : 0;
    }
    return bytes;
  }

  long scaleBytes() {
    long bytes = 0;
    for (int i = 0; i < held.size(); i++) {
      bytes += held.get(i) instanceof SealedBlock sealed ? sealed.scaleBytes() : 0;
    }
    return bytes;
  }
}
