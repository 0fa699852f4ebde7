package dev.kvasir.codec.skvq;

import dev.kvasir.codec.Page;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Channels of a head by how far they reach from zero, so that neighbours have similar ranges. */
final class ChannelOrder {
  private ChannelOrder() {}

  /**
   * @param x (tokens, channels) from {@code at} on
   * @return the channels, those that reach least first; of channels that reach as far the earlier
   */
  static int[] of(float[] x, int at, int channels) {
    float[] magnitudes = new float[channels];
    for (int i = 0; i < Page.TOKENS * channels; i++) {
      magnitudes[i % channels] = Math.max(magnitudes[i % channels], Math.abs(x[at + i]));
    }
    return IntStream.range(0, channels)
        .boxed()
        .sorted(Comparator.comparingDouble(channel -> magnitudes[channel]))
        .mapToInt(channel -> channel)
        .toArray();
  }

  static int[] identity(int channels) {
    return IntStream.range(0, channels).toArray();
  }
}
