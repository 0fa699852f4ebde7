package dev.kvasir.codec.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RowCodeLayout;

/**
 * Channels of a model's vectors, and their widths when padded to whole SIMD lanes.
 *
 * @param keyWidth padded width of a key in the pair order of {@link RopeTable}
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
    return Math.ceilDiv(channels, RowCodeLayout.VECTOR_WIDTH) * RowCodeLayout.VECTOR_WIDTH;
  }

  int dim(KvSide side) {
    return side == KvSide.KEYS ? keyDim : valueDim;
  }

  int width(KvSide side) {
    return side == KvSide.KEYS ? keyWidth : valueWidth;
  }

  /**
   * Returns a vector in lane order, padded with zeros. Keys are given in pair order.
   *
   * @param from (dim) from {@code at} on
   */
  float[] inLanes(KvSide side, float[] from, int at) {
    float[] lanes = new float[width(side)];
    for (int i = 0; i < dim(side); i++) {
      lanes[lane(side, i)] = from[at + i];
    }
    return lanes;
  }

  int lane(KvSide side, int channel) {
    int half = keyDim / 2;
    return side == KvSide.KEYS && channel >= half ? keyWidth / 2 + channel - half : channel;
  }
}
