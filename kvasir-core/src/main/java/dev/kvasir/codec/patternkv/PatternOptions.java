package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Rotation;
import java.util.Optional;

/**
 * How keys, or values, use patterns.
 *
 * @param patterns mined from the first vectors, fewer where there are fewer of them
 * @param grows whether every further window adds a pattern
 * @param largestRatio of a residual's range to the vector's, above which no pattern is used
 * @param choice which pattern a vector takes
 * @param rotation to mine patterns of vectors as they were before it; empty to take vectors as they
 *     come
 */
public record PatternOptions(
    int patterns,
    boolean grows,
    double largestRatio,
    PatternChoice choice,
    Optional<Rotation> rotation) {
  /** Places for patterns of a head after so many blocks, had they been sealed one by one. */
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
