package dev.kvasir.cache;

import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.memory.MemoryPool;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The pages of one sequence that are requantized to free memory for other sequences of its pool.
 * The oldest pages come first, one level at a time, and only while no thread reads or quantizes
 * them.
 */
final class RequantizablePages implements MemoryPool.Reclaimable {
  private final RequantizingCodec codec;
  private final RequantizingSequence sequence;
  private final BlockTable blocks;
  private final BooleanSupplier areIntact;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param areIntact checked before pages are requantized, while no thread reads or quantizes them:
   *     a page made from a damaged one could not be recognized as damaged
   */
  RequantizablePages(
      RequantizingCodec codec,
      RequantizingSequence sequence,
      BlockTable blocks,
      BooleanSupplier areIntact) {
    this.codec = codec;
    this.sequence = sequence;
    this.blocks = blocks;
    this.areIntact = areIntact;
  }

  void pin() {
    lock.lock();
  }

  void unpin() {
    lock.unlock();
  }

  /**
   * {@inheritDoc} Skips a sequence in use by another thread, since waiting for it could take
   * forever.
   */
  @Override
  public void reclaim(int level, long bytes) {
    if (!lock.tryLock()) {
      return;
    }
    try {
      if (areIntact.getAsBoolean()) {
        requantizeOldest(level, bytes);
      }
    } finally {
      lock.unlock();
    }
  }

  private void requantizeOldest(int level, long bytes) {
    long missing = bytes;
    for (int i = 0; i < blocks.count() && missing > 0; i++) {
      missing -= requantize(i, level);
    }
  }

  /** Returns the freed bytes. */
  private long requantize(int index, int level) {
    long freed = 0;
    for (int layer = 0; layer < blocks.groups().shape().layers(); layer++) {
      if (blocks.get(layer, index) instanceof QuantizedBlock block) {
        freed += requantize(index, layer, block, level);
      }
    }
    return freed;
  }

  private long requantize(int index, int layer, QuantizedBlock block, int level) {
    long before = block.freeableBytes(layer);
    if (before == 0
        || sequence.level(block.page(layer)) != level
        || level >= codec.floorLevel(layer)) {
      return 0;
    }
    blocks.requantize(index, layer, sequence, level + 1);
    return before - block.freeableBytes(layer);
  }
}
