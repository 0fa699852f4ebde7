package dev.kvasir.codec.commvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValueEncoderTest {
  private static final int WIDTH = 40;
  private static final int BITS = 24;
  private static final int TOKENS = 37;

  private final EncoderWeights weights =
      SyntheticEncoders.weights(new SplittableRandom(5), WIDTH, 16, BITS);
  private final ValueEncoder encoder = ValueEncoder.of(weights, 2, Arena.ofAuto());
  private final float[] x = values(TOKENS);
  private final byte[] bits = new byte[TOKENS * BITS];
  private final short[] scales = new short[TOKENS];

  private static float[] values(int tokens) {
    Random random = new Random(3);
    float[] x = new float[tokens * WIDTH];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  private void encode(Kernels kernels) {
    encoder.encode(kernels, new ValueEncoder.Workspace(encoder), x, TOKENS, bits, scales);
  }

  @Test
  void codesAreThoseOfTheNetworkInDoublePrecision() {
    encode(KernelChoice.ofThisProcess().kernels());
    int different = 0;
    for (int token = 0; token < TOKENS; token++) {
      double[] logits = logits(token);
      for (int pair = 0; pair < BITS / 2; pair++) {
        int best = 0;
        for (int i = 1; i < 4; i++) {
          best = logits[4 * pair + i] > logits[4 * pair + best] ? i : best;
        }
        int at = token * BITS + 2 * pair;
        boolean same =
            bits[at] == (best == 0 || best == 2 ? 1 : 0)
                && bits[at + 1] == (best == 1 || best == 2 ? 1 : 0);
        different += same ? 0 : 1;
      }
    }
    assertThat(different).as("of %d pairs", TOKENS * BITS / 2).isLessThan(3); // rounding to halves
  }

  private double[] logits(int token) {
    double[] y = new double[WIDTH];
    double length = 0;
    for (int i = 0; i < WIDTH; i++) {
      y[i] = x[token * WIDTH + i] / (weights.channelScales()[i] + 1e-6);
      length += y[i] * y[i];
    }
    double divisor = Math.sqrt(length) + 1e-6;
    double mean = Arrays.stream(y).sum() / divisor / WIDTH;
    double variance = Arrays.stream(y).map(v -> Math.pow(v / divisor - mean, 2)).sum() / WIDTH;
    double[] n = new double[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      n[i] = (y[i] / divisor - mean) / Math.sqrt(variance + 1e-5);
      n[i] = n[i] * weights.gain()[i] + weights.shift()[i];
    }
    double[] hidden = linear(weights.inner(), weights.innerBias(), n);
    return linear(
        weights.outer(),
        weights.outerBias(),
        Arrays.stream(hidden).map(ValueEncoderTest::gelu).toArray());
  }

  private static double[] linear(float[] matrix, float[] bias, double[] in) {
    double[] out = new double[bias.length];
    for (int o = 0; o < out.length; o++) {
      out[o] = bias[o];
      for (int i = 0; i < in.length; i++) {
        out[o] += Float.float16ToFloat(Float.floatToFloat16(matrix[o * in.length + i])) * in[i];
      }
    }
    return out;
  }

  /** Integrates the normal density in small steps. */
  private static double gelu(double x) {
    double integral = 0.5;
    int steps = 2000;
    for (int i = 0; i < steps; i++) {
      double at = x * (i + 0.5) / steps;
      integral += Math.exp(-at * at / 2) / Math.sqrt(2 * Math.PI) * x / steps;
    }
    return x * integral;
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0.5", "1, 0.8413447, 1.0833155", "-1, -0.1586553, -0.0833155", "9, 9, 1"})
  void geluIsExact(float x, float value, float derivative) {
    assertThat(ExactGelu.of(x)).isCloseTo(value, within(3e-7f));
    assertThat(ExactGelu.derivative(x)).isCloseTo(derivative, within(3e-7f));
  }

  @Test
  void decodedTokensAreAsLongAsTheirInput() {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    encode(kernels);
    float[] back = new float[x.length];
    encoder.decode(kernels, bits, scales, TOKENS, back);
    for (int token = 0; token < TOKENS; token++) {
      assertThat(length(back, token)).isCloseTo(length(x, token), within(0.01));
    }
  }

  /** The length after division by channel scales. */
  private double length(float[] values, int token) {
    double square = 0;
    for (int i = 0; i < WIDTH; i++) {
      square += Math.pow(values[token * WIDTH + i] / weights.channelScales()[i], 2);
    }
    return Math.sqrt(square);
  }

  @Test
  void allKernelsChooseTheSameCodes() {
    encode(KernelChoice.ofThisProcess().kernels());
    byte[] first = bits.clone();
    short[] firstScales = scales.clone();
    encode(new ScalarKernels());
    assertThat(bits).containsExactly(first);
    assertThat(scales).containsExactly(firstScales);
  }

  @Test
  void zerosDecodeToNearlyNothing() {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    Arrays.fill(x, 0);
    encode(kernels);
    float[] back = new float[x.length];
    encoder.decode(kernels, bits, scales, TOKENS, back);
    for (float value : back) {
      assertThat(value).isCloseTo(0, within(1e-5f));
    }
  }
}
