package dev.kvasir.codec.ranked;

import dev.kvasir.codec.Page;

/**
 * What the channels of a head are divided by before they are coded token by token, so that no
 * channel rules the range of a token. They are halves, above zero and finite.
 */
final class ChannelFactors {
  /** The least and the largest that a root of halves and their quotients can ask for. */
  private static final float LEAST = 0x1p-12f;

  private static final float MOST = 0x1p12f;

  private ChannelFactors() {}

  /** The root of how far each channel reaches. // (channels) */
  static float[] ofReach(float[] x, int at, int channels) {
    return ofReach(x, at, Page.TOKENS, channels);
  }

  private static float[] ofReach(float[] x, int at, int rows, int channels) {
    float[] reach = new float[channels];
    for (int i = 0; i < rows * channels; i++) {
      reach[i % channels] = Math.max(reach[i % channels], Math.abs(x[at + i]));
    }
    for (int channel = 0; channel < channels; channel++) {
      reach[channel] = half((float) Math.sqrt(reach[channel]));
    }
    return reach;
  }

  /** The same over the root of how far the queries of each channel reach. */
  static float[] ofBalance(float[] keys, int at, int keyDim, float[] queries) {
    float[] factors = ofReach(keys, at, keyDim);
    float[] reach = ofReach(queries, 0, queries.length / keyDim, keyDim);
    for (int channel = 0; channel < keyDim; channel++) {
      factors[channel] = half(factors[channel] / reach[channel]);
    }
    return factors;
  }

  /** As it is stored; 1 where a channel has nothing but zeros. */
  private static float half(float factor) {
    return factor == 0
        ? 1
        : Float.float16ToFloat(Float.floatToFloat16(Math.clamp(factor, LEAST, MOST)));
  }
}
