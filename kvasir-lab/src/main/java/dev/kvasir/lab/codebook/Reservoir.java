package dev.kvasir.lab.codebook;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Which tokens of a text are kept: each is as likely as any other (Vitter's algorithm R). */
final class Reservoir {
  private Reservoir() {}

  /**
   * Where each token is kept, negative where it is not. Tokens that are put out by later ones count
   * as not kept, so a text can be read in any order.
   *
   * @param capacity tokens that are kept at the most
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
