package dev.kvasir.methods.skvq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.Page;
import dev.kvasir.methods.skvq.SkvqCodec.ChannelOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClippedRangesTest {
  private static final int CHANNELS = 64;

  @Test
  void longTailsAreClippedAtTwoBits() {
    float[] x = gaussian();
    float[] clipped = x.clone();
    new ClippedRanges(CHANNELS, ChannelOrder.identity(CHANNELS), 0, CHANNELS, 2).clip(clipped, 0);
    assertThat(most(clipped)).isBetween(0.5f * most(x), 0.95f * most(x));
  }

  @Test
  void nothingIsClippedAtEightBits() {
    float[] x = gaussian();
    float[] clipped = x.clone();
    new ClippedRanges(CHANNELS, ChannelOrder.identity(CHANNELS), 0, CHANNELS, 8).clip(clipped, 0);
    assertThat(most(clipped)).isGreaterThan(0.9f * most(x));
  }

  @Test
  void otherGroupsAreUnchanged() {
    float[] x = gaussian();
    float[] clipped = x.clone();
    new ClippedRanges(CHANNELS, ChannelOrder.identity(CHANNELS), 0, 32, 2).clip(clipped, 0);
    for (int token = 0; token < Page.TOKENS; token++) {
      int at = token * CHANNELS;
      assertThat(Arrays.copyOfRange(clipped, at + 32, at + CHANNELS))
          .isEqualTo(Arrays.copyOfRange(x, at + 32, at + CHANNELS));
    }
  }

  @Test
  void channelsAreOrderedByMagnitude() {
    float[] x = new float[Page.TOKENS * 4];
    x[0] = -3;
    x[5] = 1;
    x[10] = 2;
    assertThat(ChannelOrder.of(x, 0, 4)).containsExactly(3, 1, 2, 0);
  }

  private static float most(float[] x) {
    float most = 0;
    for (float each : x) {
      most = Math.max(most, Math.abs(each));
    }
    return most;
  }

  private static float[] gaussian() {
    Random random = new Random(5);
    float[] x = new float[Page.TOKENS * CHANNELS];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
