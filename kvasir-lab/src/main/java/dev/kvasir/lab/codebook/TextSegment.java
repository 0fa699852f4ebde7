package dev.kvasir.lab.codebook;

import java.io.Serializable;
import java.util.Arrays;

/**
 * Tokens that are read on end.
 *
 * @param ids the tokens
 * @param slots where a sample keeps them, negative where it does not; one for each token
 */
public record TextSegment(int[] ids, int[] slots) implements Serializable {
  /** Slots of the tokens that are kept, in their order. */
  int[] sampledSlots() {
    return Arrays.stream(slots).filter(slot -> slot >= 0).toArray();
  }
}
