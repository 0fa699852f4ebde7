package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BitEncoderTest {
  private static final int LENGTH = 6;

  private final SplittableRandom random = new SplittableRandom(4);

  @Test
  void gradientsMatchFiniteDifferences() {
    BitEncoder encoder = new BitEncoder(LENGTH, 5, 8, random);
    float[] x = vectors(1, 3).x();
    double[] noise = random.doubles(encoder.logitCount(), -1, 3).toArray();
    double[] parameters = encoder.parameters();
    double[] gradient = new double[parameters.length];
    encoder.addGradient(x, 0, noise, 0.7, gradient);
    double[] unused = new double[parameters.length];
    double step = 1e-5;
    for (int i = 0; i < parameters.length; i++) {
      double before = parameters[i];
      parameters[i] = before + step;
      double above = encoder.addGradient(x, 0, noise, 0.7, unused);
      parameters[i] = before - step;
      double below = encoder.addGradient(x, 0, noise, 0.7, unused);
      parameters[i] = before;
      assertThat(gradient[i])
          .as("parameter %d", i)
          .isCloseTo((above - below) / (2 * step), within(1e-6));
    }
  }

  @Test
  void trainingLowersTheError() {
    TrainingSet set = vectors(2000, 1);
    BitEncoder encoder = new BitEncoder(LENGTH, 16, 12, random);
    BitEncoderTraining training = new BitEncoderTraining(encoder, set, random);
    double before = training.errorOf(set);
    training.run(600);
    assertThat(training.errorOf(set)).isLessThan(0.45).isLessThan(before / 3);
  }

  /** Returns vectors of norm one, as codebooks receive them. */
  private static TrainingSet vectors(int count, long seed) {
    Random gaussian = new Random(seed);
    float[] x = new float[count * LENGTH];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) gaussian.nextGaussian();
    }
    TrainingSet set = new TrainingSet(count, LENGTH, x);
    for (int i = 0; i < count; i++) {
      double length = Math.sqrt(set.square(i));
      for (int d = i * LENGTH; d < (i + 1) * LENGTH; d++) {
        x[d] /= (float) length;
      }
    }
    return set;
  }
}
