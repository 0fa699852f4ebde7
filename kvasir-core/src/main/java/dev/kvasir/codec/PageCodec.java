package dev.kvasir.codec;

import dev.kvasir.page.Page;

/** A method: turns a full block of vectors into a page. */
public interface PageCodec {
  /**
   * Packs the vectors of {@link Page#TOKENS} tokens.
   *
   * @param layer which layer they belong to
   * @param keys (kvHeads, tokens, headDim), rotated to their positions
   * @param values (kvHeads, tokens, headDim)
   */
  Page seal(int layer, float[] keys, float[] values);

  /** Bytes of a page of one layer. */
  long pageBytes();

  /** Those of its bytes that are codes. */
  long codeBytes();
}
