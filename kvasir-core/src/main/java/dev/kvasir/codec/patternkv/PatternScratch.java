package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;

/** A worker's buffers for adding patterns to a page's residuals. */
final class PatternScratch {
  final byte[] indices = new byte[Page.TOKENS];
  float[] patterns = {}; // (PatternSet.MAX_COUNT, headDim)
  float[] rows = {}; // (TOKENS, headDim)

  private PatternScratch() {}

  static PatternScratch of(PageWorkspace workspace, int headDim) {
    PatternScratch scratch = workspace.scratch(PatternScratch.class, PatternScratch::new);
    if (scratch.rows.length < Page.TOKENS * headDim) {
      scratch.patterns = new float[PatternSet.MAX_COUNT * headDim];
      scratch.rows = new float[Page.TOKENS * headDim];
    }
    return scratch;
  }
}
