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
  static EncodedBlock room(CommvqShape shape) {
    int codes = shape.kvHeads() * Page.TOKENS * shape.stages();
    return new EncodedBlock(new short[codes], new short[Page.TOKENS]);
  }
}
