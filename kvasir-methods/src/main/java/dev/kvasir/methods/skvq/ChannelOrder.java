package dev.kvasir.methods.skvq;

import dev.kvasir.codec.Page;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Sorts the channels of a head by magnitude, so that neighbours have similar ranges. */
final class ChannelOrder {
  private ChannelOrder() {}

  /**
   * @param x (tokens, channels) from {@code at} on
   * @return the channels by rising magnitude; of equal ones, the earlier first
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
