package dev.kvasir.codec;

import java.util.function.Supplier;

/** A sequence's pages at their levels: which one it is, the owner of the memory decides. */
public interface ShrinkingSequence extends SequenceCodec {
  /** The level that a layer's pages are sealed at. */
  int level(int layer);

  /** Seals a layer's pages at another level from now on. */
  void moveTo(int layer, int level);

  /** The level of a page. */
  int level(Page page);

  /**
   * A page at a narrower level. The work is done at once and memory is taken when the page is asked
   * for, so that the wider one can be freed in between.
   */
  Supplier<Page> shrunk(Page page, int level);

  @Override
  ShrinkingSequence fork();
}
