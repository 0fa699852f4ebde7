package dev.kvasir.lab.codebook;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Samples tokens of a text uniformly (Vitter's algorithm R). */
final class Reservoir {
  private Reservoir() {}

  /**
   * Returns the slot of each token, negative if it is not sampled. Tokens that later ones replace
   * count as not sampled, so a text can be read in any order.
   *
   * @param capacity maximum number of sampled tokens
   */
  static int[] slots(int tokens, int capacity, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] holders = new int[Math.min(tokens, capacity)];
    for (int token = 0; token < tokens; token++) {
      long slot = token < capacity ? token : random.nextLong(token + 1L);
      if (slot < capacity) {
        holders[(int) slot] = token;
      }
    }
    int[] slots = new int[tokens];
    Arrays.fill(slots, -1);
    for (int slot = 0; slot < holders.length; slot++) {
      slots[holders[slot]] = slot;
    }
    return slots;
  }
}
