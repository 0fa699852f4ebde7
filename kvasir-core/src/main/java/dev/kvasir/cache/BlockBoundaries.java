package dev.kvasir.cache;

import dev.kvasir.codec.Page;

/**
 * Where blocks begin: those of sinks at the beginning, the last of them as short as it must be,
 * then blocks of {@link Page#NOMINAL_TOKENS}.
 *
 * @param sinks the first tokens, never packed
 */
record BlockBoundaries(int sinks) {
  private static final int TOKENS = Page.TOKENS;

  /** Blocks from the first on that are never packed. */
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

  /** Tokens that a block can hold. */
  int capacity(int block) {
    return firstPosition(block + 1) - firstPosition(block);
  }

  /** Tokens of a block in a sequence of so many. */
  int tokens(int block, int length) {
    return Math.min(length, firstPosition(block + 1)) - firstPosition(block);
  }
}
