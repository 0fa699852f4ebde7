package dev.kvasir.lab.codebook;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

/** Trains a {@link BitEncoder} with AdamW (Loshchilov and Hutter, 2019). */
final class BitEncoderTraining {
  private static final double RATE = 2e-3;
  private static final double DECAY = 1e-4;
  private static final double BETA1 = 0.9;
  private static final double BETA2 = 0.99;
  private static final double HOTTEST = 1;
  private static final double COLDEST = 0.1;

  /** Provides the gradients of a step. */
  interface GradientSource {
    /**
     * Adds the gradients of some vectors.
     *
     * @return number of vectors
     */
    int addGradients(SplittableRandom random, double temperature, double[] gradient);
  }

  private final BitEncoder encoder;
  private final GradientSource source;
  private final SplittableRandom random;
  private final double[] gradient;
  private final double[] first;
  private final double[] second;

  BitEncoderTraining(BitEncoder encoder, GradientSource source, SplittableRandom random) {
    this.encoder = encoder;
    this.source = source;
    this.random = random;
    this.gradient = new double[encoder.parameters().length];
    this.first = new double[gradient.length];
    this.second = new double[gradient.length];
  }

  /** Fills an array with Gumbel noise. */
  static void gumbel(SplittableRandom random, double[] noise) {
    for (int i = 0; i < noise.length; i++) {
      noise[i] = -Math.log(-Math.log(random.nextDouble(Double.MIN_NORMAL, 1)));
    }
  }

  /**
   * Runs steps with a falling temperature and a learning rate that falls to zero.
   *
   * @param shouldContinue called before each step; false ends the training
   */
  void run(int steps, IntPredicate shouldContinue) {
    for (int step = 0; step < steps && shouldContinue.test(step); step++) {
      double done = step / (double) steps;
      double temperature = HOTTEST * Math.pow(COLDEST / HOTTEST, done);
      Arrays.fill(gradient, 0);
      int vectors = source.addGradients(random, temperature, gradient);
      applyUpdate(step + 1, vectors, RATE * (1 + Math.cos(Math.PI * done)) / 2);
    }
  }

  private void applyUpdate(int step, int vectors, double rate) {
    double[] parameters = encoder.parameters();
    double firstBias = 1 - Math.pow(BETA1, step);
    double secondBias = 1 - Math.pow(BETA2, step);
    for (int i = 0; i < parameters.length; i++) {
      double slope = gradient[i] / vectors;
      first[i] = BETA1 * first[i] + (1 - BETA1) * slope;
      second[i] = BETA2 * second[i] + (1 - BETA2) * slope * slope;
      double update = first[i] / firstBias / (Math.sqrt(second[i] / secondBias) + 1e-8);
      parameters[i] -= rate * (update + DECAY * parameters[i]);
    }
  }
}
