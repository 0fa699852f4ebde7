package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Thresholds select the scale that the encoder starts with. */
class ScaleThresholdsTest {
  @Test
  void scalesChangeAtThresholds() {
    double[] thresholds = MeadParameters.scaleThresholds();
    for (int scale = 1; scale < thresholds.length; scale++) {
      assertThat(RowEncoder.scaleOf(thresholds[scale])).isEqualTo(scale);
      assertThat(RowEncoder.scaleOf(Math.nextDown(thresholds[scale]))).isEqualTo(scale - 1);
    }
    assertThat(thresholds[0]).isZero();
  }

  @Test
  void scalesAreThoseOfThresholds() {
    double[] thresholds = MeadParameters.scaleThresholds();
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < 1000; i++) {
      double deviation = Math.exp(3 * random.nextGaussian());
      int scale = 0;
      while (scale + 1 < thresholds.length && deviation >= thresholds[scale + 1]) {
        scale++;
      }
      assertThat(RowEncoder.scaleOf(deviation)).isEqualTo(scale);
    }
  }
}
