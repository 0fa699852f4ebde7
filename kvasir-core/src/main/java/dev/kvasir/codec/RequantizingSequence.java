package dev.kvasir.codec;

import dev.kvasir.memory.SharedArena;

/** A sequence's pages at their levels: which one it is, the owner of the memory decides. */
public interface RequantizingSequence extends SequenceCodec {
  /** The level that a layer's pages are sealed at. */
  int level(int layer);

  /** Seals a layer's pages at another level from now on. */
  void setLevel(int layer, int level);

  /** The level of a page. */
  int level(Page page);

  /**
   * A page with the same tokens at a narrower level.
   *
   * @param memory that it lies in, and holds until it is closed
   */
  Page requantize(SharedArena memory, Page page, int level);

  /** The same in memory of the page's own. */
  default Page requantize(Page page, int level) {
    SharedArena own = new SharedArena();
    try {
      return requantize(own, page, level);
    } finally {
      own.release();
    }
  }

  @Override
  RequantizingSequence fork();
}
