package dev.kvasir.kernel;

import java.util.Arrays;

/**
 * Which of the rows of a product are few of their kind, in runs of rows that lie together. Few rows
 * are multiplied with weights as they are coded, many with weights that are expanded for them; the
 * two differ in their last bits, so the choice must be a sequence's own and not depend on whose
 * rows happen to lie beside it.
 */
public final class RowRuns {
  /**
   * Rows up to which the coded form is multiplied directly. Expanding costs about as much as ten
   * coded products of the same weights.
   */
  public static final int MOST_FEW = 8;

  private int runs;
  private int rows;
  private int[] firstRows = new int[4];
  private boolean[] few = new boolean[4];

  /** Rows that belong together, as many as they are. */
  public static RowRuns of(int rows) {
    RowRuns runs = new RowRuns();
    runs.add(rows, rows <= MOST_FEW);
    return runs;
  }

  public void clear() {
    runs = 0;
    rows = 0;
  }

  /** Adds the next {@code count} rows. */
  public void add(int count, boolean areFew) {
    if (count > 0 && (runs == 0 || few[runs - 1] != areFew)) {
      if (runs == firstRows.length) {
        firstRows = Arrays.copyOf(firstRows, 2 * runs);
        few = Arrays.copyOf(few, 2 * runs);
      }
      firstRows[runs] = rows;
      few[runs++] = areFew;
    }
    rows += count;
  }

  /** Rows in all. */
  public int rows() {
    return rows;
  }

  public int runs() {
    return runs;
  }

  public int first(int run) {
    return firstRows[run];
  }

  public int end(int run) {
    return run + 1 < runs ? firstRows[run + 1] : rows;
  }

  public boolean isFew(int run) {
    return few[run];
  }
}
