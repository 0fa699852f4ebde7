package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.BeamEncoder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Trains the stages of one codebook: first each on the residual of the previous ones, then all
 * together, alternating least squares with a beam search for codes.
 */
final class StagesTrainer {
  private static final int ROWS = AdditiveStages.ROWS;

  /** Number of vectors that a row's last value counts for in a fit. */
  private static final double PRIOR_WEIGHT = 0.1;

  /** Called after each of the {@link #steps}. */
  interface Listener {
    /**
     * @param error error relative to the vectors' energy
     * @return false to end the training
     */
    boolean shouldContinue(double error);
  }

  private final TrainingSet set;
  private final RowStructure structure;
  private final int used;
  private final TrainingSettings settings;
  private final Listener listener;
  private final double energy;

  /**
   * @param used rows of a set that codes select
   */
  StagesTrainer(
      TrainingSet set,
      RowStructure structure,
      int used,
      TrainingSettings settings,
      Listener listener) {
    this.set = set;
    this.structure = structure;
    this.used = used;
    this.settings = settings;
    this.listener = listener;
    this.energy = Math.max(set.energy(), Float.MIN_NORMAL);
  }

  /**
   * Returns how often the listener is called: for each stage, for the codes of all stages, and for
   * each round.
   */
  static int steps(TrainingSettings settings) {
    return settings.stages() + 1 + settings.refits();
  }

  /** Returns empty if the listener ended the training. */
  Optional<AdditiveStages> train(SplittableRandom random) {
    int block = 2 * ROWS * set.length();
    float[] rows = new float[settings.stages() * block];
    TrainingSet residual = set.copy();
    for (int stage = 0; stage < settings.stages(); stage++) {
      float[] found = new StageTrainer(residual, structure, used, settings).train(random.split());
      System.arraycopy(found, 0, rows, stage * block, block);
      AdditiveStages one = new AdditiveStages(1, set.length(), used, found);
      subtract(one, encode(one, residual.x(), 1), residual.x());
      if (!listener.shouldContinue(residual.energy() / energy)) {
        return Optional.empty();
      }
    }
    return refit(rows);
  }

  /** Returns the rows of the round with the smallest error. */
  private Optional<AdditiveStages> refit(float[] rows) {
    AdditiveStages stages = new AdditiveStages(settings.stages(), set.length(), used, rows);
    AdditiveStages best = stages;
    double least = Double.POSITIVE_INFINITY;
    for (int round = 0; round <= settings.refits(); round++) {
      short[] codes = encode(stages, set.x(), settings.width());
      double error = errorOf(stages, codes);
      if (error < least) {
        least = error;
        best = stages;
      }
      if (!listener.shouldContinue(least)) {
        return Optional.empty();
      }
      if (round < settings.refits()) {
        float[] fitted = structure.fit(moments(codes), stages.rows(), set.length(), PRIOR_WEIGHT);
        stages = new AdditiveStages(settings.stages(), set.length(), used, fitted);
      }
    }
    return Optional.of(best);
  }

  private short[] encode(AdditiveStages stages, float[] x, int width) {
    short[] codes = new short[set.count() * stages.stages()];
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    new BeamEncoder(kernels, width).encode(stages, x, 0, set.count(), codes, 0);
    return codes;
  }

  private double errorOf(AdditiveStages stages, short[] codes) {
    TrainingSet residual = set.copy();
    subtract(stages, codes, residual.x());
    return residual.energy() / energy;
  }

  private void subtract(AdditiveStages stages, short[] codes, float[] x) {
    int length = set.length();
    float[] sum = new float[length];
    for (int i = 0; i < set.count(); i++) {
      stages.decode(codes, i * stages.stages(), sum, 0);
      for (int d = 0; d < length; d++) {
        x[i * length + d] -= sum[d];
      }
    }
  }

  private Moments moments(short[] codes) {
    Moments moments = new Moments(settings.stages(), set.length());
    for (int i = 0; i < set.count(); i++) {
      moments.add(codes, i * settings.stages(), set.x(), i * set.length(), 1);
    }
    return moments;
  }
}
