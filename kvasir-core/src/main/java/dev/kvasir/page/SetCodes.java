package dev.kvasir.page;

import java.lang.foreign.MemorySegment;

/**
 * The packed indices of a page's tokens: one index for each set of codebook rows. A set has {@code
 * 2^indexBits} rows.
 */
public sealed interface SetCodes permits StageCodes, BitCodes {
  /** Returns the number of sets, and of indices for each token. */
  int sets();

  /** Returns the bits of an index. */
  int indexBits();

  /** Returns the 16-bit words that hold the indices of a token before they are packed. */
  int words();

  /** Returns the bytes of a page's packed indices. */
  int bytes();

  /**
   * Packs the indices of a page.
   *
   * @param words (tokens, {@link #words}) from {@code at} on
   */
  void pack(short[] words, int at, MemorySegment target, long offset);

  /**
   * Unpacks the indices of a page. Allocates nothing.
   *
   * @param indices (sets, tokens), set
   */
  void unpack(MemorySegment source, long offset, byte[] indices);
}
