package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.WorkerContext;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Estimates the operations of codebook training and measures the speed of this machine. */
public final class TrainingSpeed {
  private static final int ROWS = 2 * AdditiveStages.ROWS;
  private static final double CENTRES = AdditiveStages.ROWS * AdditiveStages.ROWS;

  /** Settings of a trial, large enough for JIT compilation and about a second of work. */
  private static final TrainingSettings TRIAL_SETTINGS = TrainingSettings.of(2);

  private static final int TRIAL_VECTORS = 2048;
  private static final int TRIES = 4;

  private TrainingSpeed() {}

  /**
   * Returns the floating-point operations for one codebook. Every step of every stage has products
   * with rows, two operations for each center, sums of shared vectors and the normal equations;
   * every round has the same for all stages together.
   */
  public static double operations(TrainingSettings settings, int channels, int vectors) {
    double look = 2.0 * ROWS * channels + 2 * CENTRES;
    double shared = 2.0 * settings.nearest() * 2 * channels;
    double step = vectors * (look + shared) + solving(ROWS, channels);
    double stages = settings.stages() * ((settings.steps() + 1) * step + vectors * look);
    double sums = settings.stages() * (4.0 * settings.stages() + 4 * channels);
    double search = settings.stages() * (2.0 * ROWS * channels + settings.width() * 4 * CENTRES);
    double rounds =
        (settings.refits() + 1) * vectors * (search + sums)
            + settings.refits() * solving(settings.stages() * ROWS, channels);
    return stages + rounds;
  }

  private static double solving(double unknowns, int channels) {
    return unknowns * unknowns * (unknowns / 3 + 2.0 * channels);
  }

  /** Returns the bytes for training one codebook: vectors four times, codes, normal equations. */
  public static long heapBytes(TrainingSettings settings, int channels, int vectors) {
    long unknowns = (long) settings.stages() * ROWS;
    return 4L * Float.BYTES * vectors * channels
        + 2L * Short.BYTES * vectors * settings.stages()
        + 3 * Double.BYTES * unknowns * unknowns;
  }

  /** Returns the operations per second of all threads, each training a head. */
  public static double measure(int headDim, int threads) {
    List<HeadTrainingTask> heads =
        IntStream.range(0, threads).mapToObj(thread -> head(headDim, thread)).toList();
    double operations = threads * operations(TRIAL_SETTINGS, headDim, TRIAL_VECTORS);
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
      long start = System.nanoTime();
      new LocalRunner(WorkerContext.empty(threads))
          .<SerializedCodebook>run(heads, ProgressListener.NONE, (task, rows) -> {});
      best = Math.max(best, operations * 1e9 / (System.nanoTime() - start));
    }
    return best;
  }

  private static HeadTrainingTask head(int headDim, int seed) {
    Random random = new Random(seed);
    short[] halves = new short[TRIAL_VECTORS * headDim];
    for (int i = 0; i < halves.length; i++) {
      halves[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    double[] squares = new double[TRIAL_VECTORS];
    Arrays.fill(squares, headDim);
    return new HeadTrainingTask(
        new HeadId(Side.KEYS, 0, seed),
        new SampledHead.Loaded(TRIAL_VECTORS, headDim, halves, squares),
        headDim,
        AdditiveStages.ROWS,
        TRIAL_SETTINGS,
        seed);
  }
}
