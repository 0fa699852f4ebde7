package dev.kvasir.cache;

import dev.kvasir.codec.ShrinkingCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.memory.MemoryPool;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The pages of one sequence, where they shrink for others of its pool: the oldest first, by a level
 * at a time, and only while nobody reads or packs them.
 */
final class YieldingPages implements MemoryPool.Yielding {
  private final ShrinkingCodec codec;
  private final ShrinkingSequence sequence;
  private final HostBlocks blocks;
  private final BooleanSupplier areWhole;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param areWhole asked before pages become narrower, while nobody reads or packs them: what was
   *     made of damaged ones could not be told from what was made of others
   */
  YieldingPages(
      ShrinkingCodec codec,
      ShrinkingSequence sequence,
      HostBlocks blocks,
      BooleanSupplier areWhole) {
    this.codec = codec;
    this.sequence = sequence;
    this.blocks = blocks;
    this.areWhole = areWhole;
  }

  void enter() {
    lock.lock();
  }

  void leave() {
    lock.unlock();
  }

  /** One who is in use by another thread is passed over: to wait for it could last for ever. */
  @Override
  public void yield(int level, long bytes) {
    if (!lock.tryLock()) {
      return;
    }
    try {
      if (areWhole.getAsBoolean()) {
        shrinkOldest(level, bytes);
      }
    } finally {
      lock.unlock();
    }
  }

  private void shrinkOldest(int level, long bytes) {
    long missing = bytes;
    for (int i = 0; i < blocks.count() && missing > 0; i++) {
      missing -= shrink(i, level);
    }
  }

  /** Answers how many bytes became free. */
  private long shrink(int index, int level) {
    long freed = 0;
    for (int layer = 0; layer < blocks.groups().shape().layers(); layer++) {
      if (blocks.get(layer, index) instanceof SealedBlock block) {
        freed += shrink(index, layer, block, level);
      }
    }
    return freed;
  }

  private long shrink(int index, int layer, SealedBlock block, int level) {
    long before = block.freeableBytes(layer);
    if (before == 0 || sequence.level(block.page(layer)) != level || level >= codec.floor(layer)) {
      return 0;
    }
    blocks.shrink(index, layer, sequence, level + 1);
    return before - block.freeableBytes(layer);
  }
}
