package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;

/** A worker's room for the patterns that are added to a page's residuals. */
final class LabelRoom {
  final byte[] indices = new byte[Page.TOKENS];
  float[] patterns = {}; // (Patterns.MOST, headDim)
  float[] rows = {}; // (TOKENS, headDim)

  private LabelRoom() {}

  static LabelRoom of(PageRoom worker, int headDim) {
    LabelRoom room = worker.of(LabelRoom.class, LabelRoom::new);
    if (room.rows.length < Page.TOKENS * headDim) {
      room.patterns = new float[Patterns.MOST * headDim];
      room.rows = new float[Page.TOKENS * headDim];
    }
    return room;
  }
}
