package dev.kvasir.codec.ranked;

import dev.kvasir.codec.Page;

/**
 * What the channels of a head are divided by before they are coded token by token, so that no
 * channel rules the range of a token. They are halves, above zero and finite.
 */
final class ChannelFactors {
  /** The least and the largest that a root of halves and their quotients can ask for. */
  private static final float MIN_FACTOR = 0x1p-12f;

  private static final float MAX_FACTOR = 0x1p12f;

  private ChannelFactors() {}

  /** The root of how far each channel reaches. // (channels) */
  static float[] fromMagnitudes(float[] x, int at, int channels) {
    return fromMagnitudes(x, at, Page.TOKENS, channels);
  }

  private static float[] fromMagnitudes(float[] x, int at, int rows, int channels) {
    float[] magnitudes = new float[channels];
    for (int i = 0; i < rows * channels; i++) {
      magnitudes[i % channels] = Math.max(magnitudes[i % channels], Math.abs(x[at + i]));
    }
    for (int channel = 0; channel < channels; channel++) {
      magnitudes[channel] = half((float) Math.sqrt(magnitudes[channel]));
    }
    return magnitudes;
  }

  /** The same over the root of how far the queries of each channel reach. */
  static float[] balanced(float[] keys, int at, int keyDim, float[] queries) {
    float[] factors = fromMagnitudes(keys, at, keyDim);
    float[] magnitudes = fromMagnitudes(queries, 0, queries.length / keyDim, keyDim);
    for (int channel = 0; channel < keyDim; channel++) {
      factors[channel] = half(factors[channel] / magnitudes[channel]);
    }
    return factors;
  }

  /** As it is stored; 1 where a channel has nothing but zeros. */
  private static float half(float factor) {
    return factor == 0
        ? 1
        : Float.float16ToFloat(Float.floatToFloat16(Math.clamp(factor, MIN_FACTOR, MAX_FACTOR)));
  }
}
