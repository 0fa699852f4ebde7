package dev.kvasir.methods.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;

/** Scratch arrays of one worker for dequantizing a page with two bit widths. */
final class RankedScratch {
  final int[] tierOrder = new int[Page.TOKENS];
  private float[] factors = {};

  private RankedScratch() {}

  static RankedScratch of(PageWorkspace workspace) {
    return workspace.scratch(RankedScratch.class, RankedScratch::new);
  }

  /** Returns an array for the factors of that many channels. */
  float[] factors(int channels) {
    if (factors.length < channels) {
      factors = new float[channels];
    }
    return factors;
  }
}
