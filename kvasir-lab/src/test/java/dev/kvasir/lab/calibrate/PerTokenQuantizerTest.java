package dev.kvasir.lab.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PerTokenQuantizerTest {
  private static float[] roundTrip(float[] x, int headDim, int bits) {
    float[] out = new float[x.length];
    new PerTokenQuantizer(headDim, bits).roundTrip(x, 0, x.length / headDim, out, 0);
    return out;
  }

  @Test
  void levelsAreUniformFromMinimumToMaximum() {
    assertThat(roundTrip(new float[] {-1, -0.6f, 0.1f, 2}, 4, 2)).containsExactly(-1, -1, 0, 2);
  }

  @Test
  void headsAndGroupsOf128ChannelsAreIndependent() {
    float[] x = new float[2 * 192];
    x[0] = 100; // in the first group of the first head
    x[130] = 0.25f;
    x[191] = 1;
    float[] out = roundTrip(x, 192, 1);
    assertThat(out[0]).isEqualTo(100);
    assertThat(out[130]).isZero();
    assertThat(out[191]).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "4", "8", "16"})
  void errorIsAtMostHalfAStep(int bits) {
    float[] x = new float[64];
    Random random = new Random(bits);
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    float step = 8f / ((1 << bits) - 1); // no number here is beyond 4
    float[] out = roundTrip(x, 64, bits);
    for (int i = 0; i < x.length; i++) {
      assertThat(out[i]).isCloseTo(x[i], within(step / 2 + 1e-6f));
    }
  }

  @Test
  void constantGroupIsRestoredExactly() {
    assertThat(roundTrip(new float[] {0.3f, 0.3f, 0.3f}, 3, 2)).containsOnly(0.3f);
    float[] narrow = {0, Float.MIN_VALUE, 0};
    assertThat(roundTrip(narrow, 3, 2)).containsOnly(0);
  }

  @Test
  void widthsAboveSixteenAreRejected() {
    assertThatThrownBy(() -> new UniformGroupQuantizer(17))
        .hasMessage("bits is 17; expected 1 to 16");
  }
}
