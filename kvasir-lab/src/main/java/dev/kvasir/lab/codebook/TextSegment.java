package dev.kvasir.lab.codebook;

import java.io.Serializable;
import java.util.Arrays;

/**
 * Consecutive tokens that are read as one sequence.
 *
 * @param ids the tokens
 * @param slots slot of each token in the sample, negative if it is not sampled
 */
public record TextSegment(int[] ids, int[] slots) implements Serializable {
  /** Returns the slots of the sampled tokens, in order. */
  int[] sampledSlots() {
    return Arrays.stream(slots).filter(slot -> slot >= 0).toArray();
  }
}
