package dev.kvasir.lab.calibrate;

/**
 * Uniform asymmetric codes within one token: groups of neighbouring channels of a head share a
 * scale and a zero point, as PM-KVQ packs keys and values alike. Scales are 32-bit floats, for what
 * is asked here is what the codes lose.
 *
 * @param bits of a code, 1 to 16
 */
public record TokenCodes(int headDim, int bits) {
  private static final int LARGEST_GROUP = 128;

  public TokenCodes {
    if (bits < 1 || bits > 16) {
      throw new IllegalArgumentException("bits is %d; expected 1 to 16".formatted(bits));
    }
  }

  /** What heads are after being coded and decoded. */
  public void roundTrip(float[] x, int at, int heads, float[] out, int outAt) {
    int group = Math.min(LARGEST_GROUP, headDim);
    for (int head = 0; head < heads; head++) {
      for (int from = 0; from < headDim; from += group) {
        int offset = head * headDim + from;
        int length = Math.min(group, headDim - from);
        roundTripGroup(x, at + offset, length, out, outAt + offset);
      }
    }
  }

  private void roundTripGroup(float[] x, int at, int length, float[] out, int outAt) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = at; i < at + length; i++) {
      least = Math.min(least, x[i]);
      most = Math.max(most, x[i]);
    }
    float scale = (most - least) / ((1 << bits) - 1);
    for (int i = 0; i < length; i++) {
      // A constant group, or one too narrow for a scale, comes back as its least value.
      int code = scale == 0 ? 0 : Math.round((x[at + i] - least) / scale);
      out[outAt + i] = code * scale + least;
    }
  }
}
