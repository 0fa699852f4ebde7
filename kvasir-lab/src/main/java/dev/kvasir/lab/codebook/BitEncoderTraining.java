package dev.kvasir.lab.codebook;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

/** Trains a {@link BitEncoder} by AdamW (Loshchilov and Hutter, 2019). */
final class BitEncoderTraining {
  private static final int BATCH = 64;
  private static final double RATE = 2e-3;
  private static final double DECAY = 1e-4;
  private static final double FIRST_MEMORY = 0.9;
  private static final double SECOND_MEMORY = 0.99;
  private static final double HOTTEST = 1;
  private static final double COLDEST = 0.1;

  /** What a step learns from. */
  interface Lesson {
    /**
     * Adds the gradients of some vectors.
     *
     * @return how many
     */
    int learn(SplittableRandom random, double temperature, double[] gradient);
  }

  private final BitEncoder encoder;
  private final Lesson lesson;
  private final SplittableRandom random;
  private final double[] gradient;
  private final double[] first;
  private final double[] second;

  BitEncoderTraining(BitEncoder encoder, Lesson lesson, SplittableRandom random) {
    this.encoder = encoder;
    this.lesson = lesson;
    this.random = random;
    this.gradient = new double[encoder.parameters().length];
    this.first = new double[gradient.length];
    this.second = new double[gradient.length];
  }

  /** By the squared errors of vectors, any as likely as any other. */
  BitEncoderTraining(BitEncoder encoder, TrainingSet set, SplittableRandom random) {
    this(
        encoder,
        (drawn, temperature, gradient) -> {
          double[] noise = new double[encoder.logitCount()];
          for (int i = 0; i < BATCH; i++) {
            gumbel(drawn, noise);
            int at = drawn.nextInt(set.count()) * set.length();
            encoder.learn(set.x(), at, noise, temperature, gradient);
          }
          return BATCH;
        },
        random);
  }

  /** Fills an array with noise of Gumbel's distribution. */
  static void gumbel(SplittableRandom random, double[] noise) {
    for (int i = 0; i < noise.length; i++) {
      noise[i] = -Math.log(-Math.log(random.nextDouble(Double.MIN_NORMAL, 1)));
    }
  }

  /** Takes steps with a temperature that falls, and a rate that falls to zero. */
  void run(int steps) {
    run(steps, step -> true);
  }

  /**
   * @param goesOn told of each step; false ends it
   */
  void run(int steps, IntPredicate goesOn) {
    for (int step = 0; step < steps && goesOn.test(step); step++) {
      double done = step / (double) steps;
      double temperature = HOTTEST * Math.pow(COLDEST / HOTTEST, done);
      Arrays.fill(gradient, 0);
      int vectors = lesson.learn(random, temperature, gradient);
      move(step + 1, vectors, RATE * (1 + Math.cos(Math.PI * done)) / 2);
    }
  }

  private void move(int step, int vectors, double rate) {
    double[] parameters = encoder.parameters();
    double firstBias = 1 - Math.pow(FIRST_MEMORY, step);
    double secondBias = 1 - Math.pow(SECOND_MEMORY, step);
    for (int i = 0; i < parameters.length; i++) {
      double slope = gradient[i] / vectors;
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
