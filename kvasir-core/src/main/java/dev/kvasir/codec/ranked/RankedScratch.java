package dev.kvasir.codec.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;

/** One worker's room for what expands a page of two widths. */
final class RankedScratch {
  final int[] tierOrder = new int[Page.TOKENS];
  private float[] factors = {};

  private RankedScratch() {}

  static RankedScratch of(PageWorkspace workspace) {
    return workspace.scratch(RankedScratch.class, RankedScratch::new);
  }

  /** For the factors of so many channels. */
  float[] factors(int channels) {
    if (factors.length < channels) {
      factors = new float[channels];
    }
    return factors;
  }
}
