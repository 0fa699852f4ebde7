package dev.kvasir.engine;

import java.util.Arrays;

/**
 * The time of a step without prompt rows, by its rows. The lower quartile of recent steps is usual,
 * which ignores disturbed ones.
 */
final class UsualStepTime {
  /** The fixed cost of a step, in rows: the usual time grows with the number of rows. */
  static final int BASE_ROWS = 3;

  private static final int HISTORY = 9;

  private final double[] unitNanos = new double[HISTORY]; // per row and base row, a ring buffer
  private final double[] sorted = new double[HISTORY];
  private int next; // index into unitNanos
  private int samples; // valid entries of unitNanos

  /** Records a step without prompt rows. */
  void record(int rows, long nanos) {
    unitNanos[next] = nanos / (double) (BASE_ROWS + rows);
    next = (next + 1) % HISTORY;
    samples = Math.min(samples + 1, HISTORY);
  }

  /** Returns the number of recorded steps that count. */
  int samples() {
    return samples;
  }

  /** Returns the usual time of a step of so many rows; 0 if none was recorded. */
  double nanos(int rows) {
    return unitNanos() * (BASE_ROWS + rows);
  }

  /** Returns the usual time per row and base row. */
  double unitNanos() {
    System.arraycopy(unitNanos, 0, sorted, 0, samples);
    Arrays.sort(sorted, 0, samples);
    return samples == 0 ? 0 : sorted[samples / 4];
  }
}
