package dev.kvasir.codec.kvquant;

import dev.kvasir.codec.PageWorkspace;

/** One worker's room for levels. */
final class LevelScratch {
  private final float[] levels = new float[NonUniformCodes.MAX_LEVELS];

  private LevelScratch() {}

  static float[] of(PageWorkspace workspace) {
    return workspace.scratch(LevelScratch.class, LevelScratch::new).levels;
  }
}
