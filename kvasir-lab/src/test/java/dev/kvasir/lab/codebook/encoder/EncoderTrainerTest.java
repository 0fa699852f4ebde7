package dev.kvasir.lab.codebook.encoder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.commvq.EncoderWeights;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EncoderTrainerTest {
  private static final int WIDTH = 16;
  private static final EncoderSettings SETTINGS =
      new EncoderSettings(16, 32, 300, 64, EncoderLoss.VALUES, EncoderRecipe.SHORT);

  private final Kernels kernels = new ScalarKernels();

  /** Returns values of two independent heads with few directions each. */
  private static AttendedTokens tokens(int seed) {
    Random random = new Random(seed);
    float[] x = new float[2048 * WIDTH];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian() * (1 + i % 4) + (i % 8 == 0 ? 2 : 0);
    }
    return AttendedTokens.ofValues(WIDTH, x);
  }

  private EncoderWeights train(EncoderSettings settings) {
    return new EncoderTrainer(kernels, tokens(1), settings)
        .trainWeights(7, (step, error) -> true)
        .orElseThrow();
  }

  @Test
  void trainingReducesTheErrorOfOtherTokens() {
    EncoderSettings untrained =
        new EncoderSettings(16, 32, 1, 64, EncoderLoss.VALUES, EncoderRecipe.SHORT);
    double before = EncoderError.of(train(untrained), 2, tokens(2)).ofValues();
    double after = EncoderError.of(train(SETTINGS), 2, tokens(2)).ofValues();
    assertThat(after).isLessThan(before / 2).isLessThan(0.6);
  }

  @Test
  void sameSeedTrainsTheSameNumbers() {
    EncoderSettings few =
        new EncoderSettings(16, 32, 20, 64, EncoderLoss.VALUES, EncoderRecipe.PAPER);
    EncoderWeights first = train(few);
    EncoderWeights second = train(few);
    assertThat(second.inner()).containsExactly(first.inner());
    assertThat(second.codebook()).containsExactly(first.codebook());
  }

  @Test
  void aListenerCancels() {
    assertThat(
            new EncoderTrainer(kernels, tokens(1), SETTINGS)
                .trainWeights(7, (step, error) -> step < 2 * EncoderTrainer.REPORTED))
        .isEmpty();
  }
}
