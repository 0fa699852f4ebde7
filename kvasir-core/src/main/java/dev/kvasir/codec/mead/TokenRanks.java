package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/** Sorts the tokens of a page by a number; of equal numbers, the earlier token comes first. */
final class TokenRanks {
  private static final int TOKENS = Page.TOKENS;

  private final byte[] sorted = new byte[TOKENS];

  /**
   * @return tokens, the largest number first; overwritten by the next call
   */
  byte[] descending(double[] numbers) {
    Integer[] order = new Integer[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
      order[i] = i;
    }
    Arrays.sort(order, (a, b) -> Double.compare(numbers[b], numbers[a]));
    for (int i = 0; i < TOKENS; i++) {
      sorted[i] = (byte) (int) order[i];
    }
    return sorted;
  }
}
