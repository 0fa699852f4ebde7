package dev.kvasir.kernel;

import dev.kvasir.page.BitCodes;
import dev.kvasir.page.PageSize;

/**
 * Sums the weights of the tokens whose bit is set. A table holds the sums of every subset of four
 * tokens, so that a bit of a page takes one addition for four tokens.
 */
final class SetBitSums {
  private static final int NIBBLE = 4;
  private static final int SUBSETS = 1 << NIBBLE;
  private static final int NIBBLES = PageSize.TOKENS / NIBBLE;

  private SetBitSums() {}

  /** Defines {@link CodebookKernels#addToSetBits}. */
  static void add(byte[] bits, int sets, float[] weights, int stride, float[] bins) {
    float[] sums = RowScratch.of(NIBBLES * SUBSETS * stride);
    for (int nibble = 0; nibble < NIBBLES; nibble++) {
      fillSubsets(weights, nibble * NIBBLE, stride, sums, nibble * SUBSETS * stride);
    }
    for (int set = 0; set < sets; set++) {
      int to = set * stride;
      for (int i = 0; i < BitCodes.SET_BYTES; i++) {
        int eight = bits[set * BitCodes.SET_BYTES + i];
        int low = (2 * i * SUBSETS + (eight & SUBSETS - 1)) * stride;
        int high = ((2 * i + 1) * SUBSETS + (eight >> NIBBLE & SUBSETS - 1)) * stride;
        for (int lane = 0; lane < stride; lane++) {
          bins[to + lane] = bins[to + lane] + sums[low + lane] + sums[high + lane];
        }
      }
    }
  }

  /** The sum of a subset is that of the subset without its last token, plus that token. */
  private static void fillSubsets(float[] weights, int token, int stride, float[] sums, int at) {
    for (int lane = 0; lane < stride; lane++) {
      sums[at + lane] = 0;
    }
    for (int i = 0; i < NIBBLE; i++) {
      int half = (1 << i) * stride;
      for (int j = 0; j < half; j++) {
        float weight = weights[(token + i) * stride + j % stride];
        sums[at + half + j] = sums[at + j] + weight;
      }
    }
  }
}
