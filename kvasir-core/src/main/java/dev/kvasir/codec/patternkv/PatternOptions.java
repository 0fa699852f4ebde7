package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Rotation;
import java.util.Optional;

/**
 * The use of patterns by keys, or by values.
 *
 * @param patterns maximum patterns mined from the first vectors
 * @param grows whether every further window adds a pattern
 * @param largestRatio maximum ratio of the residual's range to the vector's, above which no pattern
 *     is used
 * @param choice the measure that selects a pattern
 * @param rotations to undo before patterns are mined; empty to use vectors as they are
 */
public record PatternOptions(
    int patterns,
    boolean grows,
    double largestRatio,
    PatternChoice choice,
    Optional<LayerRotations> rotations) {
  /** Returns the rotation to undo in a layer, if any. */
  public Optional<Rotation> rotation(int layer) {
    return rotations.map(all -> all.of(layer));
  }

  /**
   * Returns the pattern slots of a head after a number of blocks that were quantized one at a time.
   */
  int slotsAfter(int blocks) {
    if (blocks == 0) {
      return 0;
    }
    int mined = Math.min(patterns, Page.TOKENS);
    return grows
        ? PatternSet.allocatedSlots(mined, Math.min(mined + blocks - 1, PatternSet.MAX_COUNT))
        : mined;
  }
}
