package dev.kvasir.codec.commvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.ScalarKernels;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LayerEncoderTest {
  private static final int HEAD = 8;
  private static final int STAGES = 3;
  private static final int TOKENS = 70;

  private final Random random = new Random(2);
  private final KeyCodebook key =
      new KeyCodebook(gaussian(HEAD, 5), gaussian(STAGES * AdditiveStages.ROWS * HEAD, 0.3));
  private final List<KeyCodebook> heads = List.of(key, key);
  private final LayerEncoder encoder = new LayerEncoder(new ScalarKernels(), heads, 2);

  @Test
  void vectorsOfAnyNormRoundTrip() {
    float[] x = vectors(1);
    double error = error(x);
    assertThat(error).isLessThan(0.2);
    // Scales are halves, which change the sums by at most a thousandth.
    assertThat(error(vectors(1000))).isCloseTo(error, within(0.01));
  }

  @Test
  void tokenEqualToItsMeansRoundTrips() {
    float[] x = new float[2 * TOKENS * HEAD];
    for (int i = 0; i < x.length; i++) {
      x[i] = key.mean()[i % HEAD];
    }
    float[] back = roundTrip(x);
    for (int i = 0; i < x.length; i++) {
      assertThat(back[i]).isEqualTo(key.mean()[i % HEAD]);
    }
  }

  @Test
  void scaleIsOptimal() {
    float[] x = vectors(3);
    short[] codes = new short[2 * TOKENS * STAGES];
    short[] scales = new short[TOKENS];
    float[] back = new float[x.length];
    encoder.encode(x.clone(), TOKENS, codes, scales);
    encoder.decode(codes, scales, TOKENS, back);
    double best = distance(x, back);
    for (int token = 0; token < TOKENS; token += 10) {
      for (int step : new int[] {-8, 8}) {
        short[] moved = scales.clone();
        moved[token] += (short) step;
        encoder.decode(codes, moved, TOKENS, back);
        assertThat(distance(x, back)).isGreaterThan(best);
      }
    }
  }

  /** Returns vectors around the mean: (kvHeads, tokens, headDim). */
  private float[] vectors(double spread) {
    float[] x = gaussian(2 * TOKENS * HEAD, spread);
    for (int i = 0; i < x.length; i++) {
      x[i] += key.mean()[i % HEAD];
    }
    return x;
  }

  private float[] roundTrip(float[] x) {
    short[] codes = new short[2 * TOKENS * STAGES];
    short[] scales = new short[TOKENS];
    float[] back = new float[x.length];
    encoder.encode(x.clone(), TOKENS, codes, scales);
    encoder.decode(codes, scales, TOKENS, back);
    return back;
  }

  /** Returns the error relative to the vectors without means. */
  private double error(float[] x) {
    float[] means = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      means[i] = key.mean()[i % HEAD];
    }
    return distance(x, roundTrip(x)) / distance(x, means);
  }

  private static double distance(float[] x, float[] y) {
    double sum = 0;
    for (int i = 0; i < x.length; i++) {
      sum += Math.pow(x[i] - y[i], 2);
    }
    return sum;
  }

  private float[] gaussian(int count, double spread) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) (spread * random.nextGaussian());
    }
    return x;
  }
}
