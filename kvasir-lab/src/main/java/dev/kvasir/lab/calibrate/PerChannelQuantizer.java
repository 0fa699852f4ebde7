package dev.kvasir.lab.calibrate;

/**
 * Per-channel asymmetric uniform quantization: groups of consecutive tokens share a scale and a
 * zero point within a channel.
 *
 * @param group tokens of a group; the last one may be smaller
 * @param bits bits of a code, 1 to 16
 */
public record PerChannelQuantizer(int group, int bits) {
  /**
   * Quantizes and dequantizes tokens.
   *
   * @param x (tokens, channels), from {@code at} on
   * @param out the same, from {@code at} on
   */
  public void roundTrip(float[] x, int at, int tokens, int channels, float[] out) {
    UniformGroupQuantizer quantizer = new UniformGroupQuantizer(bits);
    for (int from = 0; from < tokens; from += group) {
      int count = Math.min(group, tokens - from);
      for (int channel = 0; channel < channels; channel++) {
        int first = at + from * channels + channel;
        quantizer.roundTrip(x, first, channels, count, out, first);
      }
    }
  }
}
