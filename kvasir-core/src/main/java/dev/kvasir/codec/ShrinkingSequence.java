package dev.kvasir.codec;

/** A sequence's pages at their levels: which one it is, the owner of the memory decides. */
public interface ShrinkingSequence extends SequenceCodec {
  /** The level that a layer's pages are sealed at. */
  int level(int layer);

  /** Seals a layer's pages at another level from now on. */
  void moveTo(int layer, int level);

  /** The level of a page. */
  int level(Page page);

  /** A page with the same tokens at a narrower level. */
  Page shrunk(Page page, int level);

  @Override
  ShrinkingSequence fork();
}
