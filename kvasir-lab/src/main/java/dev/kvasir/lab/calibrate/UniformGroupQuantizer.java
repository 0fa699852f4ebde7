package dev.kvasir.lab.calibrate;

/**
 * Uniform asymmetric codes of numbers that share a scale and a zero point. Scales are 32-bit
 * floats, for what is asked here is what the codes lose.
 *
 * @param bits of a code, 1 to 16
 */
record UniformGroupQuantizer(int bits) {
  UniformGroupQuantizer {
    if (bits < 1 || bits > 16) {
      throw new IllegalArgumentException("bits is %d; expected 1 to 16".formatted(bits));
    }
  }

  /** What {@code count} numbers, {@code stride} apart, are after being coded and decoded. */
  void roundTrip(float[] x, int at, int stride, int count, float[] out, int outAt) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, x[at + i * stride]);
      most = Math.max(most, x[at + i * stride]);
    }
    float scale = (most - least) / ((1 << bits) - 1);
    for (int i = 0; i < count; i++) {
      // A constant group, or one too narrow for a scale, comes back as its least value.
      int code = scale == 0 ? 0 : Math.round((x[at + i * stride] - least) / scale);
      out[outAt + i * stride] = code * scale + least;
    }
  }
}
