package dev.kvasir.lab.calibrate;

/**
 * Uniform asymmetric codes within one channel: groups of tokens that follow each other share a
 * scale and a zero point, as keys by channel are packed.
 *
 * @param group tokens of a group; the last one may have fewer
 * @param bits of a code, 1 to 16
 */
public record PerChannelQuantizer(int group, int bits) {
  /**
   * What tokens are after being coded and decoded.
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
