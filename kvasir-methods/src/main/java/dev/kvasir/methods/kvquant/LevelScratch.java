package dev.kvasir.methods.kvquant;

import dev.kvasir.codec.PageWorkspace;

/** Scratch array for levels of one worker. */
final class LevelScratch {
  private final float[] levels = new float[NonUniformCodes.MAX_LEVELS];

  private LevelScratch() {}

  static float[] of(PageWorkspace workspace) {
    return workspace.scratch(LevelScratch.class, LevelScratch::new).levels;
  }
}
