package dev.kvasir.engine;

/**
 * The measured time of decode steps by their rows. A step of several rows takes less time than as
 * many steps, since it reads the weights once; how much less depends on the model and the machine.
 *
 * <pre>
 * time of a step = base * relative[rows]      relative[1] = 1
 * </pre>
 *
 * Thread-safe.
 */
final class StepCosts {
  private static final int MAX_ROWS = 128;

  /** Kernels multiply up to four rows at a time with the same weights, some of them eight. */
  static final int ROWS_TOGETHER = 4;

  /** The most rows that kernels multiply at a time. */
  private static final int MOST_ROWS_TOGETHER = 8;

  /** Shares of an error that correct the base: single rows measure it, others suggest it. */
  private static final double BASE_GAIN = 0.2;

  private static final double BASE_GAIN_OF_SEVERAL = 0.05;
  private static final double RELATIVE_GAIN = 0.15;

  /** The share by which a step lets relative times return to usual, so that all are tried again. */
  private static final double FORGETTING = 0.001;

  /** The most by which one step may differ from what was expected: a pause says nothing. */
  private static final double MAX_DEVIATION = 1.5;

  /**
   * A draft must promise to be this much faster than none. Rejected drafts cost more than estimated
   * when an estimate is wrong, and a draft that is not made costs nothing.
   */
  private static final double MIN_GAIN = 1.05;

  private final double[] relative = new double[MAX_ROWS + 1];
  private double baseNanos; // 0 until a step was measured
  private int lastRows;
  private int lastTokens;

  StepCosts() {
    for (int rows = 1; rows <= MAX_ROWS; rows++) {
      relative[rows] = usualRelative(rows);
    }
  }

  /** Returns what two cores of a Xeon take, as a first guess for any machine. */
  private static double usualRelative(int rows) {
    return 1 + 0.1 * (rows - 1) + 0.5 * ((rows - 1) / MOST_ROWS_TOGETHER);
  }

  /**
   * Records a step without prompt rows.
   *
   * @param tokens tokens that were generated
   */
  synchronized void record(int rows, long nanos, int tokens) {
    lastRows = rows;
    lastTokens = tokens;
    if (rows > MAX_ROWS) {
      return;
    }
    if (baseNanos == 0) {
      baseNanos = nanos / relative[rows];
    }
    double ratio = nanos / (baseNanos * relative[rows]);
    double error = Math.clamp(ratio, 1 / MAX_DEVIATION, MAX_DEVIATION) - 1;
    baseNanos *= 1 + (rows == 1 ? BASE_GAIN : BASE_GAIN_OF_SEVERAL) * error;
    if (rows > 1) {
      relative[rows] *= 1 + RELATIVE_GAIN * error;
    }
    for (int i = 2; i <= MAX_ROWS; i++) {
      relative[i] += FORGETTING * (usualRelative(i) - relative[i]);
    }
  }

  private double nanos(int rows) {
    double base = baseNanos == 0 ? 1 : baseNanos;
    double growth = (relative[MAX_ROWS] - relative[1]) / (MAX_ROWS - 1);
    return base
        * (rows <= MAX_ROWS ? relative[rows] : relative[MAX_ROWS] + growth * (rows - MAX_ROWS));
  }

  /**
   * Returns the number of draft tokens with the most generated tokens per second. The other
   * requests are expected to have as many rows and tokens as in the last step.
   *
   * @param ownRows rows of the request in the last step
   * @param ownTokens tokens that it generated
   */
  synchronized int choose(
      int ownRows, int ownTokens, double[] chances, int count, double draftNanos) {
    int rows = Math.max(0, lastRows - ownRows) + 1;
    double tokens = Math.max(0, lastTokens - ownTokens) + 1;
    double bestRate = MIN_GAIN * tokens / nanos(rows);
    int best = 0;
    for (int i = 0; i < count; i++) {
      tokens += chances[i];
      double rate = tokens / (nanos(rows + i + 1) + (i + 1) * draftNanos);
      if (rate > bestRate) {
        bestRate = rate;
        best = i + 1;
      }
    }
    return best;
  }
}
