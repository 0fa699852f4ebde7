package dev.kvasir.methods.ranked;

import dev.kvasir.codec.Page;

/**
 * Factors that channels of a head are divided by before per-token quantization, so that no channel
 * dominates a token's range. They are positive, finite halves.
 */
final class ChannelFactors {
  /** Bounds of the roots of halves and of their quotients. */
  private static final float MIN_FACTOR = 0x1p-12f;

  private static final float MAX_FACTOR = 0x1p12f;

  private ChannelFactors() {}

  /** Returns the root of each channel's largest magnitude. // (channels) */
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

  /** Returns the same, divided by the root of each channel's largest query magnitude. */
  static float[] balanced(float[] keys, int at, int keyDim, float[] queries) {
    float[] factors = fromMagnitudes(keys, at, keyDim);
    float[] magnitudes = fromMagnitudes(queries, 0, queries.length / keyDim, keyDim);
    for (int channel = 0; channel < keyDim; channel++) {
      factors[channel] = half(factors[channel] / magnitudes[channel]);
    }
    return factors;
  }

  /** Rounds to a half; 1 for a channel of zeros. */
  private static float half(float factor) {
    return factor == 0
        ? 1
        : Float.float16ToFloat(Float.floatToFloat16(Math.clamp(factor, MIN_FACTOR, MAX_FACTOR)));
  }
}
