package dev.kvasir.format;

import java.lang.foreign.MemorySegment;

/**
 * Blocks of 256 values whose scales are a half for the block times a small integer for each group,
 * and so are minimums that are no multiple of the scales:
 *
 * <pre>
 *   scale[group] = half * factor[group]      minimum[group] = minimumHalf * minimumFactor[group]
 * </pre>
 *
 * Floats hold these products exactly.
 */
public sealed interface SuperBlock extends BlockLayout permits SuperBlock16, SuperBlock32 {
  /** The bits of the half that scales are multiples of. */
  short half(MemorySegment source, long offset);

  /** A signed byte. */
  int factor(MemorySegment source, long offset, int group);

  /** The bits of the half that minimums are multiples of; files hold it without its sign. */
  default short minimumHalf(MemorySegment source, long offset) {
    throw new UnsupportedOperationException(this + " stores no minimums");
  }

  /** A signed byte. */
  default int minimumFactor(MemorySegment source, long offset, int group) {
    throw new UnsupportedOperationException(this + " stores no minimums");
  }
}
