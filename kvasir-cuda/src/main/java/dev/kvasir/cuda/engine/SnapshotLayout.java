package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.memory.Fp16Page;

/**
 * How a sequence is divided into stored parts. Whole blocks of two pages follow the sinks; the
 * residual part has the fp16 pages of the sinks and of the tokens after the last block.
 *
 * <pre>
 * position  0       sinks                    sinks + 128 * blocks     length
 *           | sinks | block | ... | block | window |
 * </pre>
 *
 * @param length tokens of the sequence
 * @param sinks attention sinks of its cache, of which a short sequence has fewer
 */
record SnapshotLayout(int length, int blocks, int sinks) {
  private static final int TOKENS = Fp16Page.TOKENS;

  /** Tokens of a block. */
  static final int BLOCK = Fp16Page.BLOCK_PAGES * TOKENS;

  /** Returns the layout of a cache that quantizes nothing: every whole block is one. */
  static SnapshotLayout ofDense(int length, int sinks) {
    return new SnapshotLayout(length, Math.max(0, length - sinks) / BLOCK, sinks);
  }

  /** Returns whether a sequence of this length has so many blocks, for numbers that were read. */
  boolean isPossible() {
    return length >= 0
        && blocks >= 0
        && sinks >= 0
        && (blocks == 0 || (long) blocks * BLOCK + sinks <= length);
  }

  /** Returns the first position of a block, or the end of the last one. */
  int position(int block) {
    return sinks + block * BLOCK;
  }

  int sinkPages() {
    return Math.ceilDiv(Math.min(length, sinks), TOKENS);
  }

  /** Returns the pages after the last block. */
  int windowPages() {
    return Math.ceilDiv(Math.max(0, length - position(blocks)), TOKENS);
  }

  int residualPages() {
    return sinkPages() + windowPages();
  }

  /** Returns the tokens of a residual page; those of the sinks come first. */
  int tokensIn(int residualPage) {
    int sinkPages = sinkPages();
    int left =
        residualPage < sinkPages
            ? Math.min(length, sinks) - TOKENS * residualPage
            : length - position(blocks) - TOKENS * (residualPage - sinkPages);
    return Math.min(TOKENS, left);
  }
}
