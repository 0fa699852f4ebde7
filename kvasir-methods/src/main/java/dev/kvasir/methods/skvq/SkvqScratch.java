package dev.kvasir.methods.skvq;

import dev.kvasir.codec.PageWorkspace;

/** Scratch array of one worker for values in stored channel order. */
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
