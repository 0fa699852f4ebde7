package dev.kvasir.codec;

import dev.kvasir.memory.SharedArena;

/** A sequence's pages at their levels: which one it is, the owner of the memory decides. */
public interface ShrinkingSequence extends SequenceCodec {
  /** The level that a layer's pages are sealed at. */
  int level(int layer);

  /** Seals a layer's pages at another level from now on. */
  void moveTo(int layer, int level);

  /** The level of a page. */
  int level(Page page);

  /**
   * A page with the same tokens at a narrower level.
   *
   * @param memory that it lies in, and holds until it is closed
   */
  Page shrunk(SharedArena memory, Page page, int level);

  /** The same in memory of the page's own. */
  default Page shrunk(Page page, int level) {
    SharedArena own = new SharedArena();
    try {
      return shrunk(own, page, level);
    } finally {
      own.release();
    }
  }

  @Override
  ShrinkingSequence fork();
}
