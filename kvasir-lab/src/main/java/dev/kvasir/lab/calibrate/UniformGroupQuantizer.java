package dev.kvasir.lab.calibrate;

/**
 * Asymmetric uniform quantization of elements that share a scale and a zero point. Scales are
 * 32-bit floats, because only the error of the codes is of interest here.
 *
 * @param bits bits of a code, 1 to 16
 */
record UniformGroupQuantizer(int bits) {
  UniformGroupQuantizer {
    if (bits < 1 || bits > 16) {
      throw new IllegalArgumentException("bits is %d; expected 1 to 16".formatted(bits));
    }
  }

  /** Quantizes and dequantizes {@code count} elements with a {@code stride}. */
  void roundTrip(float[] x, int at, int stride, int count, float[] out, int outAt) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, x[at + i * stride]);
      most = Math.max(most, x[at + i * stride]);
    }
    float scale = (most - least) / ((1 << bits) - 1);
    for (int i = 0; i < count; i++) {
      // A constant group, or one too narrow for a scale, is restored as its minimum.
      int code = scale == 0 ? 0 : Math.round((x[at + i * stride] - least) / scale);
      out[outAt + i * stride] = code * scale + least;
    }
  }
}
