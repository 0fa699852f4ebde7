package dev.kvasir.codec.kvquant;

import dev.kvasir.codec.PageRoom;

/** One worker's room for levels. */
final class LevelRoom {
  private final float[] levels = new float[LevelCodes.MOST_LEVELS];

  private LevelRoom() {}

  static float[] of(PageRoom worker) {
    return worker.of(LevelRoom.class, LevelRoom::new).levels;
  }
}
