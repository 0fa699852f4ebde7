package dev.kvasir.lab.codebook.encoder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EncoderPassTest {
  private static final int BATCH = 64;
  private static final EncoderParameters AT = new EncoderParameters(12, 10, 8);
  private static final float TEMPERATURE = 0.7f;

  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
  private final Random random = new Random(1);
  private final float[] x = normal(BATCH * AT.width());
  private final float[] noise = normal(BATCH * AT.logits());
  private final float[] channelScales = channelScales();
  private final float[] numbers = numbers();

  /** With a soft choice, gradients of both losses are those of finite differences. */
  @Test
  void gradientsAreThoseOfFiniteDifferences() {
    AttendedTokens tokens = new AttendedTokens(AT.width(), 2, x, moments());
    EncoderPass pass = new EncoderPass(kernels, AT, channelScales, BATCH, false);
    for (EncoderLoss kind : EncoderLoss.values()) {
      BatchLoss loss = new BatchLoss(kernels, tokens, kind, BATCH);
      float[] batch = loss.draw(new SplittableRandom(1));
      float[] decoded = new float[x.length];
      float[] toDecoded = new float[x.length];
      float[] gradient = new float[AT.count()];
      pass.forward(numbers, batch, noise, TEMPERATURE, decoded);
      loss.gradient(decoded, toDecoded);
      pass.backward(numbers, toDecoded, TEMPERATURE, gradient);
      for (int i = 0; i < AT.count(); i += 7) {
        float own = numbers[i];
        float step = 1e-2f;
        numbers[i] = own + step;
        double more = loss(pass, tokens, loss, kind, batch);
        numbers[i] = own - step;
        double less = loss(pass, tokens, loss, kind, batch);
        numbers[i] = own;
        assertThat((double) gradient[i])
            .as("%s, parameter %d", kind, i)
            .isCloseTo((more - less) / (2 * step), within(2e-4 + 0.02 * Math.abs(gradient[i])));
      }
    }
  }

  /** Backward is the same for a hard choice, but for what was decoded. */
  @Test
  void hardChoiceDecodesBits() {
    EncoderPass pass = new EncoderPass(kernels, AT, channelScales, BATCH, true);
    float[] decoded = new float[x.length];
    pass.forward(numbers, x, noise, 1, decoded);
    float[] first = Arrays.copyOf(decoded, AT.width());
    float[] warmer = new float[x.length];
    pass.forward(numbers, x, noise, 3, warmer);
    assertThat(warmer).containsExactly(decoded);
    assertThat(first).isNotEqualTo(new float[AT.width()]);
  }

  /** Where outputs count, the batch is the only block; else it is any tokens. */
  private double loss(
      EncoderPass pass, AttendedTokens tokens, BatchLoss loss, EncoderLoss kind, float[] batch) {
    float[] decoded = new float[x.length];
    pass.forward(numbers, batch, noise, TEMPERATURE, decoded);
    loss.gradient(decoded, new float[x.length]);
    return (kind.countsValues() ? loss.lastError() : 0)
        + (kind.countsOutputs() ? tokens.error(kernels, decoded).ofOutputs() : 0);
  }

  private float[] moments() {
    float[] sums = new float[2 * AttendedTokens.BLOCK * AttendedTokens.BLOCK];
    float[] weights = new float[AttendedTokens.BLOCK];
    for (int query = 0; query < 40; query++) {
      for (int t = 0; t < weights.length; t++) {
        weights[t] = random.nextFloat() / weights.length;
      }
      for (int i = 0; i < sums.length; i++) {
        int row = i / AttendedTokens.BLOCK % AttendedTokens.BLOCK;
        sums[i] += weights[row] * weights[i % AttendedTokens.BLOCK];
      }
    }
    return sums;
  }

  private float[] numbers() {
    float[] numbers = AT.initial(new SplittableRandom(2), 1);
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] += 0.1f * (float) random.nextGaussian();
    }
    return numbers;
  }

  private float[] channelScales() {
    float[] scales = new float[AT.width()];
    for (int i = 0; i < scales.length; i++) {
      scales[i] = 0.5f + random.nextFloat();
    }
    return scales;
  }

  private float[] normal(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    return numbers;
  }
}
