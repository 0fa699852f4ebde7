package dev.kvasir.codec.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.RowCodes;
import dev.kvasir.kernel.TurnTable;

/**
 * Channels of a model's vectors, and how many they are when they fill whole lanes.
 *
 * @param keyWidth of a key whose pairs are laid out as {@link TurnTable} has them
 */
record MeadSizes(int layers, int kvHeads, int keyDim, int keyWidth, int valueDim, int valueWidth) {
  static MeadSizes of(CacheShape shape) {
    return new MeadSizes(
        shape.layers(),
        shape.kvHeads(),
        shape.keyDim(),
        2 * padded(shape.keyDim() / 2),
        shape.valueDim(),
        2 * padded(Math.ceilDiv(shape.valueDim(), 2)));
  }

  private static int padded(int channels) {
    return Math.ceilDiv(channels, RowCodes.LANES) * RowCodes.LANES;
  }

  int dim(Side side) {
    return side == Side.KEYS ? keyDim : valueDim;
  }

  int width(Side side) {
    return side == Side.KEYS ? keyWidth : valueWidth;
  }

  /**
   * Numbers of a vector, where those of keys stand in the order of pairs, in the lanes that they
   * fill; the others are zero.
   *
   * @param from (dim) from {@code at} on
   */
  float[] inLanes(Side side, float[] from, int at) {
    float[] lanes = new float[width(side)];
    for (int i = 0; i < dim(side); i++) {
      lanes[lane(side, i)] = from[at + i];
    }
    return lanes;
  }

  /** The lane of a channel. */
  int lane(Side side, int channel) {
    int half = keyDim / 2;
    return side == Side.KEYS && channel >= half ? keyWidth / 2 + channel - half : channel;
  }
}
