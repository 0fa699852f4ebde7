package dev.kvasir.methods.kvarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.Page;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class VarianceNormalizerTest {
  private static final int CHANNELS = 64;

  @Test
  void factorsOfTokensAndChannelsAreRecovered() {
    Random random = new Random(11);
    double[] tokens = random.doubles(Page.TOKENS, 1, 9).toArray();
    double[] channels = random.doubles(CHANNELS, 1, 4).toArray();
    float[] x = new float[Page.TOKENS * CHANNELS];
    for (int i = 0; i < x.length; i++) {
      double factor = tokens[i / CHANNELS] * channels[i % CHANNELS];
      x[i] = (float) (factor * (random.nextBoolean() ? 1 : -1));
    }
    VarianceNormalizer.Factors found = new VarianceNormalizer(16).of(x, 0, CHANNELS);
    assertThat(spread(found.tokens(), tokens)).isLessThan(1.1);
    assertThat(spread(found.channels(), channels)).isLessThan(1.1);
  }

  /** Returns the largest quotient divided by the smallest. */
  private static double spread(double[] found, double[] expected) {
    double[] quotients = new double[found.length];
    Arrays.setAll(quotients, i -> found[i] / expected[i]);
    return Arrays.stream(quotients).max().orElseThrow()
        / Arrays.stream(quotients).min().orElseThrow();
  }

  @Test
  void zerosAndConstantsHaveStorableFactors() {
    float[] x = new float[Page.TOKENS * CHANNELS];
    for (float constant : new float[] {0, 1e-30f, 3, 60000}) {
      Arrays.fill(x, constant);
      VarianceNormalizer.Factors found = new VarianceNormalizer(16).of(x, 0, CHANNELS);
      assertThat(Arrays.stream(found.tokens())).allMatch(factor -> factor > 0 && factor < 65504);
      assertThat(Arrays.stream(found.channels())).allMatch(factor -> factor > 0 && factor < 65504);
    }
  }
}
