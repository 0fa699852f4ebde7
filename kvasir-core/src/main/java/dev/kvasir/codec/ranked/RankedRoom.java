package dev.kvasir.codec.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;

/** One worker's room for what expands a page of two widths. */
final class RankedRoom {
  final int[] places = new int[Page.TOKENS];
  private float[] factors = {};

  private RankedRoom() {}

  static RankedRoom of(PageRoom worker) {
    return worker.of(RankedRoom.class, RankedRoom::new);
  }

  /** For the factors of so many channels. */
  float[] factors(int channels) {
    if (factors.length < channels) {
      factors = new float[channels];
    }
    return factors;
  }
}
