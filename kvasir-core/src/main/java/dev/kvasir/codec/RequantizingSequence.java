package dev.kvasir.codec;

import dev.kvasir.memory.SharedArena;

/**
 * The codec of a sequence whose pages have levels. The owner of the memory decides when to
 * requantize.
 */
public interface RequantizingSequence extends SequenceCodec {
  /** Returns the level at which a layer's new pages are quantized. */
  int level(int layer);

  /** Sets the level at which a layer's new pages are quantized. */
  void setLevel(int layer, int level);

  int level(Page page);

  /**
   * Returns a page of a layer with the same tokens and fewer bits.
   *
   * @param memory the memory of the new page, which retains it until closed
   */
  Page requantize(SharedArena memory, int layer, Page page, int level);

  /** Returns a page with the same tokens and fewer bits, in its own memory. */
  default Page requantize(int layer, Page page, int level) {
    SharedArena own = new SharedArena();
    try {
      return requantize(own, layer, page, level);
    } finally {
      own.release();
    }
  }

  @Override
  RequantizingSequence fork();
}
