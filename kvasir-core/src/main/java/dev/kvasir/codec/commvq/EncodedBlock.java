package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.page.SetCodes;

/**
 * The codes of a page's keys or values.
 *
 * @param codes (KV heads or groups, tokens, words), see {@link SetCodes#words}
 * @param scales (tokens) halves
 */
record EncodedBlock(short[] codes, short[] scales) {
  /** Returns a block whose arrays are yet to be filled. */
  static EncodedBlock allocate(int vectors, SetCodes codes) {
    return new EncodedBlock(
        new short[vectors * Page.TOKENS * codes.words()], new short[Page.TOKENS]);
  }
}
