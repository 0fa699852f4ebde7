package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The pattern of each key, or value, of a page.
 *
 * @param indices (kvHeads, tokens) bytes, {@link PatternSet#NONE} without a pattern
 */
public record PatternLabels(PatternSet patterns, MemorySegment indices) {
  /** Reads the pattern indices of a head's tokens: (tokens). */
  public void read(int kvHead, byte[] out) {
    MemorySegment.copy(indices, ValueLayout.JAVA_BYTE, offset(kvHead), out, 0, Page.TOKENS);
  }

  /** Returns the offset of a head's indices. */
  long offset(int kvHead) {
    return (long) kvHead * Page.TOKENS;
  }

  /**
   * Writes the pattern of each token as a row, zeros without a pattern.
   *
   * @param patterns (patterns, headDim)
   * @param rows (tokens, headDim), set
   */
  public static void gather(
      byte[] indices, int tokens, float[] patterns, int headDim, float[] rows) {
    for (int token = 0; token < tokens; token++) {
      int index = indices[token] & 0xFF;
      if (index == PatternSet.NONE) {
        Arrays.fill(rows, token * headDim, (token + 1) * headDim, 0);
      } else {
        System.arraycopy(patterns, index * headDim, rows, token * headDim, headDim);
      }
    }
  }
}
