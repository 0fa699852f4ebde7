package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BitEncoderTest {
  private static final int LENGTH = 6;
  private static final int BATCH = 64;

  private final SplittableRandom random = new SplittableRandom(4);

  @Test
  void gradientsMatchFiniteDifferences() {
    BitEncoder encoder = new BitEncoder(LENGTH, 5, 8, random);
    float[] x = vectors(1, 3).x();
    double[] noise = random.doubles(encoder.logitCount(), -1, 3).toArray();
    double[] parameters = encoder.parameters();
    double[] gradient = new double[parameters.length];
    addGradient(encoder, x, 0, noise, 0.7, gradient);
    double[] unused = new double[parameters.length];
    double step = 1e-5;
    for (int i = 0; i < parameters.length; i++) {
      double before = parameters[i];
      parameters[i] = before + step;
      double above = addGradient(encoder, x, 0, noise, 0.7, unused);
      parameters[i] = before - step;
      double below = addGradient(encoder, x, 0, noise, 0.7, unused);
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
    BitEncoderTraining training =
        new BitEncoderTraining(
            encoder,
            (drawn, temperature, gradient) -> {
              double[] noise = new double[encoder.logitCount()];
              for (int i = 0; i < BATCH; i++) {
                BitEncoderTraining.gumbel(drawn, noise);
                int at = drawn.nextInt(set.count()) * LENGTH;
                addGradient(encoder, set.x(), at, noise, temperature, gradient);
              }
              return BATCH;
            },
            random);
    double before = error(encoder, set);
    training.run(600, step -> true);
    assertThat(error(encoder, set)).isLessThan(0.45).isLessThan(before / 3);
  }

  /** Adds the gradient of a vector's squared error and returns the error. */
  private static double addGradient(
      BitEncoder encoder,
      float[] x,
      int at,
      double[] noise,
      double temperature,
      double[] gradient) {
    double[] decoded = new double[LENGTH];
    encoder.reconstructSoftly(x, at, noise, temperature, decoded, 0);
    double[] toDecoded = new double[LENGTH];
    double error = 0;
    for (int d = 0; d < LENGTH; d++) {
      double difference = decoded[d] - x[at + d];
      error += difference * difference;
      toDecoded[d] = 2 * difference;
    }
    encoder.backpropagate(x, at, noise, temperature, toDecoded, 0, gradient);
    return error;
  }

  /** Returns the squared error of the hard encoding of a set, relative to its energy. */
  private static double error(BitEncoder encoder, TrainingSet set) {
    double[] decoded = new double[LENGTH];
    double sum = 0;
    for (int at = 0; at < set.count() * LENGTH; at += LENGTH) {
      encoder.reconstruct(set.x(), at, decoded, 0);
      for (int d = 0; d < LENGTH; d++) {
        sum += (decoded[d] - set.x()[at + d]) * (decoded[d] - set.x()[at + d]);
      }
    }
    return sum / set.energy();
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
