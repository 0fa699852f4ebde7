package dev.kvasir.kernel;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.page.BitCodes;
import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;

/**
 * Sums the weights of the tokens whose bit is set. A table holds the sums of every subset of four
 * tokens, so that a bit of a page takes one addition for four tokens.
 */
final class SetBitSums {
  private static final int NIBBLE = 4;
  private static final int SUBSETS = 1 << NIBBLE;
  private static final int NIBBLES = PageSize.TOKENS / NIBBLE;

  /** The sums of all subsets of the tokens of every nibble. */
  static final int SUBSET_SUMS = NIBBLES * SUBSETS;

  private SetBitSums() {}

  /** Defines {@link CodebookKernels#addToSetBits}. */
  static void add(
      byte[] bits, int sets, float[] weights, int stride, MemorySegment sums, MemorySegment bins) {
    for (int nibble = 0; nibble < NIBBLES; nibble++) {
      fillSubsets(weights, nibble * NIBBLE, stride, sums, nibble * SUBSETS * stride);
    }
    for (int set = 0; set < sets; set++) {
      for (int lane = 0; lane < stride; lane++) {
        int to = set * stride + lane;
        float sum = bins.getAtIndex(JAVA_FLOAT, to);
        for (int i = 0; i < BitCodes.SET_BYTES; i++) {
          int eight = bits[set * BitCodes.SET_BYTES + i];
          int low = (2 * i * SUBSETS + (eight & SUBSETS - 1)) * stride;
          int high = ((2 * i + 1) * SUBSETS + (eight >> NIBBLE & SUBSETS - 1)) * stride;
          sum =
              sum
                  + sums.getAtIndex(JAVA_FLOAT, low + lane)
                  + sums.getAtIndex(JAVA_FLOAT, high + lane);
        }
        bins.setAtIndex(JAVA_FLOAT, to, sum);
      }
    }
  }

  /** The sum of a subset is that of the subset without its last token, plus that token. */
  private static void fillSubsets(
      float[] weights, int token, int stride, MemorySegment sums, int at) {
    for (int lane = 0; lane < stride; lane++) {
      sums.setAtIndex(JAVA_FLOAT, at + lane, 0);
    }
    for (int i = 0; i < NIBBLE; i++) {
      int half = (1 << i) * stride;
      for (int j = 0; j < half; j++) {
        float weight = weights[(token + i) * stride + j % stride];
        sums.setAtIndex(JAVA_FLOAT, at + half + j, sums.getAtIndex(JAVA_FLOAT, at + j) + weight);
      }
    }
  }
}
