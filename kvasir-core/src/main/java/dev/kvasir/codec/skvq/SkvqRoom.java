package dev.kvasir.codec.skvq;

import dev.kvasir.codec.PageRoom;

/** One worker's room for values in their stored order. */
final class SkvqRoom {
  float[] values = {};

  private SkvqRoom() {}

  static SkvqRoom of(PageRoom worker, int count) {
    SkvqRoom room = worker.of(SkvqRoom.class, SkvqRoom::new);
    if (room.values.length < count) {
      room.values = new float[count];
    }
    return room;
  }
}
