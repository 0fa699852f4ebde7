package dev.kvasir.codec.skvq;

import dev.kvasir.codec.PageWorkspace;

/** One worker's room for values in their stored order. */
final class SkvqScratch {
  float[] values = {};

  private SkvqScratch() {}

  static SkvqScratch of(PageWorkspace workspace, int count) {
    SkvqScratch scratch = workspace.scratch(SkvqScratch.class, SkvqScratch::new);
    if (scratch.values.length < count) {
      scratch.values = new float[count];
    }
    return scratch;
  }
}
