package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Worksite;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** How much there is to do to train a codebook, and how fast this machine does it. */
public final class TrainingSpeed {
  private static final int ROWS = 2 * AdditiveStages.ROWS;
  private static final double CENTRES = AdditiveStages.ROWS * AdditiveStages.ROWS;

  /** What is tried: enough for code to be compiled, and a second of work. */
  private static final TrainingSettings TRIED = TrainingSettings.of(2);

  private static final int TRIED_VECTORS = 2048;
  private static final int TRIES = 4;

  private TrainingSpeed() {}

  /**
   * Floating-point operations for one head: products with rows, two for each centre that is looked
   * at, sums of what vectors share, and solving the normal equations, in every step of every stage;
   * and the same of all stages together in every round.
   */
  public static double operations(TrainingSettings settings, int headDim, int vectors) {
    double look = 2.0 * ROWS * headDim + 2 * CENTRES;
    double shared = 2.0 * settings.nearest() * 2 * headDim;
    double step = vectors * (look + shared) + solving(ROWS, headDim);
    double stages = settings.stages() * ((settings.steps() + 1) * step + vectors * look);
    double sums = settings.stages() * (4.0 * settings.stages() + 4 * headDim);
    double search = settings.stages() * (2.0 * ROWS * headDim + settings.width() * 4 * CENTRES);
    double rounds =
        (settings.refits() + 1) * vectors * (search + sums)
            + settings.refits() * solving(settings.stages() * ROWS, headDim);
    return stages + rounds;
  }

  private static double solving(double unknowns, int headDim) {
    return unknowns * unknowns * (unknowns / 3 + 2.0 * headDim);
  }

  /** Bytes that the training of one head holds: vectors four times, codes, normal equations. */
  public static long heap(TrainingSettings settings, int headDim, int vectors) {
    long unknowns = (long) settings.stages() * ROWS;
    return 4L * Float.BYTES * vectors * headDim
        + 2L * Short.BYTES * vectors * settings.stages()
        + 3 * Double.BYTES * unknowns * unknowns;
  }

  /** Operations a second of all threads, each training a head. */
  public static double measured(int headDim, int threads) {
    List<HeadTraining> heads =
        IntStream.range(0, threads).mapToObj(thread -> head(headDim, thread)).toList();
    double operations = threads * operations(TRIED, headDim, TRIED_VECTORS);
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
      long start = System.nanoTime();
      new LocalRunner(Worksite.empty(threads))
          .<HeadRows>run(heads, WorkListener.NONE, (piece, rows) -> {});
      best = Math.max(best, operations * 1e9 / (System.nanoTime() - start));
    }
    return best;
  }

  private static HeadTraining head(int headDim, int seed) {
    Random random = new Random(seed);
    short[] halves = new short[TRIED_VECTORS * headDim];
    for (int i = 0; i < halves.length; i++) {
      halves[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    double[] squares = new double[TRIED_VECTORS];
    Arrays.fill(squares, headDim);
    return new HeadTraining(
        new TrainedHead(Side.KEYS, 0, seed),
        new SampledHead.Taken(TRIED_VECTORS, headDim, halves, squares),
        TRIED,
        seed);
  }
}
