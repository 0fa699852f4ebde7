package dev.kvasir.lab.codebook;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Trains a {@link BitEncoder} by AdamW (Loshchilov and Hutter, 2019). */
final class BitEncoderTraining {
  private static final int BATCH = 64;
  private static final double RATE = 2e-3;
  private static final double DECAY = 1e-4;
  private static final double FIRST_MEMORY = 0.9;
  private static final double SECOND_MEMORY = 0.99;
  private static final double HOTTEST = 1;
  private static final double COLDEST = 0.1;

  private final BitEncoder encoder;
  private final TrainingSet set;
  private final SplittableRandom random;
  private final double[] gradient;
  private final double[] first;
  private final double[] second;

  BitEncoderTraining(BitEncoder encoder, TrainingSet set, SplittableRandom random) {
    this.encoder = encoder;
    this.set = set;
    this.random = random;
    this.gradient = new double[encoder.parameters().length];
    this.first = new double[gradient.length];
    this.second = new double[gradient.length];
  }

  /** Takes steps with a temperature that falls, and a rate that falls to zero. */
  void run(int steps) {
    double[] noise = new double[encoder.logitCount()];
    for (int step = 0; step < steps; step++) {
      double done = step / (double) steps;
      double temperature = HOTTEST * Math.pow(COLDEST / HOTTEST, done);
      Arrays.fill(gradient, 0);
      for (int i = 0; i < BATCH; i++) {
        for (int j = 0; j < noise.length; j++) {
          noise[j] = -Math.log(-Math.log(random.nextDouble(Double.MIN_NORMAL, 1)));
        }
        int at = random.nextInt(set.count()) * set.length();
        encoder.learn(set.x(), at, noise, temperature, gradient);
      }
      move(step + 1, RATE * (1 + Math.cos(Math.PI * done)) / 2);
    }
  }

  private void move(int step, double rate) {
    double[] parameters = encoder.parameters();
    double firstBias = 1 - Math.pow(FIRST_MEMORY, step);
    double secondBias = 1 - Math.pow(SECOND_MEMORY, step);
    for (int i = 0; i < parameters.length; i++) {
      double slope = gradient[i] / BATCH;
      first[i] = FIRST_MEMORY * first[i] + (1 - FIRST_MEMORY) * slope;
      second[i] = SECOND_MEMORY * second[i] + (1 - SECOND_MEMORY) * slope * slope;
      double way = first[i] / firstBias / (Math.sqrt(second[i] / secondBias) + 1e-8);
      parameters[i] -= rate * (way + DECAY * parameters[i]);
    }
  }

  /** What codes leave of a set, in parts of its energy. */
  double errorOf(TrainingSet other) {
    double sum = 0;
    for (int i = 0; i < other.count(); i++) {
      sum += encoder.error(other.x(), i * other.length());
    }
    return sum / other.energy();
  }
}
