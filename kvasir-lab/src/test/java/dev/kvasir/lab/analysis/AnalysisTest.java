package dev.kvasir.lab.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.CacheShape;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AnalysisTest {
  private static final CacheShape SHAPE = new CacheShape(1, 2, 4);

  private static float[] gaussian(int count, long seed) {
    Random random = new Random(seed);
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  private static KeysAndValues text(int[] ids, float[] firstHead, float[] secondHead) {
    float[][][] vectors = {{firstHead, secondHead}};
    return new KeysAndValues(SHAPE, ids, vectors, vectors);
  }

  /** Two equal vectors of two halves, each in a bin of its own, share ln 2. */
  @Test
  void informationIsTheEntropyOfAnEqualVector() {
    float[] x = {0, 0, 1, 1};
    assertThat(MutualInformation.of(x, x)).isCloseTo(Math.log(2), within(1e-12));
    assertThat(MutualInformation.of(x, new float[] {5, 6, 5, 6})).isCloseTo(0, within(1e-12));
    assertThat(MutualInformation.of(x, new float[] {3, 3, 3, 3})).isCloseTo(0, within(1e-12));
  }

  @Test
  void shufflingLeavesOnlyTheBiasOfTheEstimate() {
    float[] x = gaussian(4096, 1);
    double bias = Math.pow(MutualInformation.BINS - 1, 2) / (2 * x.length);
    assertThat(MutualInformation.ofShuffled(x, x, 3)).isBetween(0.0, 2 * bias);
    assertThat(MutualInformation.of(x, x)).isGreaterThan(1);
  }

  /** Token 7 lies twice in cluster 0 and once in 1; token 8 twice in 1; token 9 occurs once. */
  @Test
  void consistencyIsTheShareOfTheLargestCluster() {
    int[] ids = {7, 7, 7, 8, 8, 9};
    int[] clusters = {0, 1, 0, 1, 1, 0};
    assertThat(TokenConsistency.of(ids, clusters)).isCloseTo((2.0 / 3 + 1) / 2, within(1e-12));
    assertThat(TokenConsistency.of(new int[] {1, 2}, new int[] {0, 0})).isNaN();
  }

  @Test
  void channelsAreComparedByTheirMeanMagnitude() {
    KeysAndValues text =
        text(new int[] {1, 2}, new float[] {1, 2, 3, 4, -3, 2, 1, 0}, new float[8]);
    ChannelMagnitudes magnitudes = ChannelMagnitudes.of(text, 0);
    assertThat(magnitudes.means()).containsExactly(2, 2, 2, 2, 0, 0, 0, 0);
    assertThat(magnitudes.peak()).isEqualTo(2);
    assertThat(magnitudes.sharedOutliers(magnitudes)).isEqualTo(1);
    assertThat(magnitudes.correlation(magnitudes)).isCloseTo(1, within(1e-12));
    assertThat(Correlation.of(new double[] {1, 2, 3}, new double[] {3, 2, 1}))
        .isCloseTo(-1, within(1e-12));
  }

  @Test
  void driftIsTheCosineAtADistance() {
    KeysAndValues text =
        text(
            new int[] {1, 2, 3},
            new float[] {1, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0},
            new float[] {1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0});
    assertThat(KeyDrift.similarity(text, 0, 1)).isCloseTo((1 + 0 + 1 + 1) / 4.0, within(1e-6));
    assertThat(KeyDrift.similarity(text, 0, 2)).isCloseTo(0.5, within(1e-6));
    assertThat(KeyDrift.similarity(text, 0, 3)).isNaN();
  }

  /** Four levels 0, 1, 2, 3 between the extremes: 0.4 is rounded down, 2.6 up. */
  @Test
  void errorsAreThoseOfEqualSteps() {
    double[] errors = UniformErrors.errors(new float[] {0, 0.4f, 2.6f, 3}, 0, 1, 4, 2);
    assertThat(errors[0]).isZero();
    assertThat(errors[1]).isCloseTo(0.4, within(1e-6));
    assertThat(errors[2]).isCloseTo(0.4, within(1e-6));
    assertThat(errors[3]).isCloseTo(0, within(1e-6));
    assertThat(UniformErrors.errors(new float[] {2, 2}, 0, 1, 2, 2)).containsOnly(0);
  }

  @Test
  void aLargeKeyChannelStandsOut() {
    int tokens = 64;
    float[] keys = gaussian(tokens * 4, 2);
    for (int token = 0; token < tokens; token++) {
      keys[token * 4 + 1] *= 20;
    }
    KeysAndValues text = text(new int[tokens], keys, keys);
    UniformErrors errors = UniformErrors.ofKeys(text, 0, 0, 2);
    assertThat(errors.peak()).isGreaterThan(10);
    assertThat(errors.max()).isEqualTo(errors.means()[1]);
    assertThat(UniformErrors.ofValues(text, 0, 0, 2).mean()).isPositive();
  }
}
