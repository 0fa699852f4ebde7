package dev.kvasir.lab.calibrate;

/**
 * Per-token asymmetric uniform quantization: groups of neighboring channels of a head share a scale
 * and a zero point, as in PM-KVQ's values and per-token keys.
 *
 * @param bits bits of a code, 1 to 16
 */
public record PerTokenQuantizer(int headDim, int bits) {
  private static final int LARGEST_GROUP = 128;

  /** Quantizes and dequantizes heads. */
  public void roundTrip(float[] x, int at, int heads, float[] out, int outAt) {
    UniformGroupQuantizer quantizer = new UniformGroupQuantizer(bits);
    int group = Math.min(LARGEST_GROUP, headDim);
    for (int head = 0; head < heads; head++) {
      for (int from = 0; from < headDim; from += group) {
        int offset = head * headDim + from;
        int length = Math.min(group, headDim - from);
        quantizer.roundTrip(x, at + offset, 1, length, out, outAt + offset);
      }
    }
  }
}
