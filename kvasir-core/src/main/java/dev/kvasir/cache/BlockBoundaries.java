package dev.kvasir.cache;

import dev.kvasir.codec.Page;

/**
 * The positions at which blocks start: blocks of sinks, the last of which may be short, then blocks
 * of {@link Page#TOKENS} tokens.
 *
 * @param sinks number of first tokens, never quantized
 */
record BlockBoundaries(int sinks) {
  private static final int TOKENS = Page.TOKENS;

  /** Returns how many of the first blocks are never quantized. */
  int sinkBlocks() {
    return Math.ceilDiv(sinks, TOKENS);
  }

  int firstPosition(int block) {
    int before = sinkBlocks();
    return block < before ? block * TOKENS : sinks + (block - before) * TOKENS;
  }

  int blockOf(int position) {
    return position < sinks ? position / TOKENS : sinkBlocks() + (position - sinks) / TOKENS;
  }

  /** Returns the number of blocks with at least one of {@code length} tokens. */
  int blocks(int length) {
    return length == 0 ? 0 : blockOf(length - 1) + 1;
  }

  int capacity(int block) {
    return firstPosition(block + 1) - firstPosition(block);
  }

  /** Returns the tokens of a block in a sequence of {@code length} tokens. */
  int tokens(int block, int length) {
    return Math.min(length, firstPosition(block + 1)) - firstPosition(block);
  }
}
