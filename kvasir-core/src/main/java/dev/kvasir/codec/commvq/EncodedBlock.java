package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;

/**
 * The codes of a page's keys or values.
 *
 * @param codes (kvHeads, tokens, stages)
 * @param scales (tokens) halves
 */
record EncodedBlock(short[] codes, short[] scales) {
  /** Returns a block whose arrays are yet to be filled. */
  static EncodedBlock allocate(int kvHeads, int stages) {
    return new EncodedBlock(new short[kvHeads * Page.TOKENS * stages], new short[Page.TOKENS]);
  }
}
