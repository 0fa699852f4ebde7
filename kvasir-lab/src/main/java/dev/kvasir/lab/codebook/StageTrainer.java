package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.StageSearch;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.SplittableRandom;

/**
 * Finds the rows of one stage by expectation maximization: vectors are shared between their nearest
 * centers with weights {@code exp(-distance / temperature)}, and rows are fitted by least squares.
 * The falling temperature keeps badly initialized rows from staying unused.
 */
final class StageTrainer {
  private static final Kernels KERNELS = KernelChoice.ofThisProcess().kernels();
  private static final int ROWS = AdditiveStages.ROWS;
  private static final int BATCH = 64;

  /** Number of vectors that a row's last value counts for in a fit. */
  private static final double PRIOR_WEIGHT = 0.1;

  /** Smaller shares are ignored. */
  private static final double MIN_SHARE = 1e-4;

  private final TrainingSet set;
  private final RowStructure structure;
  private final int used;
  private final TrainingSettings settings;
  private final float[] products = new float[BATCH * 2 * ROWS];
  private final double[] shares; // (nearest)
  private final short[] code = new short[1];
  private final float[] squares; // (count)

  StageTrainer(TrainingSet set, RowStructure structure, int used, TrainingSettings settings) {
    this.set = set;
    this.structure = structure;
    this.used = used;
    this.settings = settings;
    this.shares = new double[settings.nearest()];
    this.squares = new float[set.count()];
    for (int i = 0; i < squares.length; i++) {
      squares[i] = set.square(i);
    }
  }

  /** The result of one pass over all vectors. */
  private record Step(double error, Moments moments) {}

  /** Returns the rows (2, ROWS, length) of the step with the smallest error of nearest centers. */
  float[] train(SplittableRandom random) {
    double typical = Math.sqrt(set.energy() / set.count());
    float[] rows = initialRows(random);
    float[] best = rows;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i <= settings.steps(); i++) {
      Step step = share(rows, typical * temperature(i));
      if (step.error < least) {
        least = step.error;
        best = rows;
      }
      if (i < settings.steps()) {
        rows = structure.fit(step.moments, rows, set.length(), PRIOR_WEIGHT);
      }
    }
    return best;
  }

  private double temperature(int step) {
    double fraction = step / (double) Math.max(1, settings.steps() - 1);
    return settings.hottest() * Math.pow(settings.coldest() / settings.hottest(), fraction);
  }

  /** Draws random vectors of the set and halves them, since a center is the sum of two rows. */
  private float[] initialRows(SplittableRandom random) {
    int length = set.length();
    float[] drawn = new float[2 * ROWS * length];
    for (int row = 0; row < 2 * ROWS; row++) {
      int from = random.nextInt(set.count()) * length;
      if (row % ROWS >= used) {
        continue;
      }
      for (int d = 0; d < length; d++) {
        drawn[row * length + d] = set.x()[from + d] / 2;
      }
    }
    structure.enforce(drawn, length);
    return drawn;
  }

  private Step share(float[] rows, double temperature) {
    AdditiveStages stage = new AdditiveStages(1, set.length(), used, rows);
    StageSearch search = new StageSearch(KERNELS, settings.nearest());
    Moments moments = new Moments(1, set.length());
    double error = 0;
    for (int from = 0; from < set.count(); from += BATCH) {
      int batch = Math.min(BATCH, set.count() - from);
      multiply(rows, from, batch);
      for (int i = 0; i < batch; i++) {
        search.begin(stage, 0, settings.nearest(), products);
        search.offer(squares[from + i], i * 2 * ROWS);
        search.rank();
        error += Math.max(0, search.error(0));
        add(moments, from + i, search, temperature);
      }
    }
    return new Step(error, moments);
  }

  private void multiply(float[] rows, int from, int batch) {
    int length = set.length();
    KERNELS
        .floats()
        .products(
            RowBlock.of(set.x(), from * length, length, batch, length),
            RowBlock.of(rows, 2 * ROWS, length),
            RowBlock.of(products, batch, 2 * ROWS));
  }

  private void add(Moments moments, int i, StageSearch search, double temperature) {
    double nearest = Math.sqrt(Math.max(0, search.error(0)));
    double sum = 0;
    for (int rank = 0; rank < shares.length; rank++) {
      double distance = Math.sqrt(Math.max(0, search.error(rank)));
      shares[rank] = rank == 0 ? 1 : Math.exp((nearest - distance) / temperature);
      sum += shares[rank];
    }
    for (int rank = 0; rank < shares.length && shares[rank] > MIN_SHARE * sum; rank++) {
      code[0] = search.code(rank);
      moments.add(code, 0, set.x(), i * set.length(), shares[rank] / sum);
    }
  }
}
