package dev.kvasir.format;

import java.lang.foreign.MemorySegment;

/**
 * Blocks of 256 values with two-level scales: a half per block times a small integer per group.
 * Minimums that are not multiples of the scales have the same form:
 *
 * <pre>
 *   scale[group] = half * factor[group]      minimum[group] = minimumHalf * minimumFactor[group]
 * </pre>
 *
 * These products are exact in floats.
 */
public sealed interface SuperBlock extends BlockLayout
    permits SuperBlock16, SuperBlock32, TableSuperBlock {
  /** Returns the bits of the half that multiplies all scales. */
  short half(MemorySegment source, long offset);

  /** Returns a signed byte. */
  int factor(MemorySegment source, long offset, int group);

  /**
   * Returns the bits of the half that multiplies all minimums; files store it with the opposite
   * sign.
   */
  default short minimumHalf(MemorySegment source, long offset) {
    throw new UnsupportedOperationException(this + " stores no minimums");
  }

  /** Returns a signed byte. */
  default int minimumFactor(MemorySegment source, long offset, int group) {
    throw new UnsupportedOperationException(this + " stores no minimums");
  }
}
