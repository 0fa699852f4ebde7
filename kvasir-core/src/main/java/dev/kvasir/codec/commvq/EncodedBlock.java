package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;

/**
 * A page's keys, or values, as codes.
 *
 * @param codes // (kvHeads, tokens, stages)
 * @param scales halves // (tokens)
 */
record EncodedBlock(short[] codes, short[] scales) {
  /** To be set. */
  static EncodedBlock allocate(int kvHeads, int stages) {
    return new EncodedBlock(new short[kvHeads * Page.TOKENS * stages], new short[Page.TOKENS]);
  }
}
