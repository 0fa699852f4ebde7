package dev.kvasir.lab.codebook;

/**
 * Solves {@code A X = B} for a symmetric positive definite A by {@code A = L L^T}. It processes
 * four columns at a time, so that each row below is read and written once for four of them.
 */
final class Cholesky {
  private static final int PANEL = 4;

  private final int size;
  private final double[][] rows; // upper triangle of A, then L^T

  /**
   * @param upper (size, size); only the upper triangle is read; overwritten
   */
  Cholesky(double[][] upper) {
    this.size = upper.length;
    this.rows = upper;
    for (int from = 0; from < size; from += PANEL) {
      int end = Math.min(from + PANEL, size);
      for (int k = from; k < end; k++) {
        scaleRow(k);
        for (int i = k + 1; i < end; i++) {
          subtract(rows[i], rows[k], rows[k][i], i);
        }
      }
      for (int i = end; i < size; i++) {
        subtractPanel(i, from, end);
      }
    }
  }

  private void scaleRow(int k) {
    double[] row = rows[k];
    if (!(row[k] > 0)) {
      throw new IllegalArgumentException(
          "pivot %d is %s; expected more than 0".formatted(k, row[k]));
    }
    double factor = 1 / Math.sqrt(row[k]);
    for (int j = k; j < size; j++) {
      row[j] *= factor;
    }
  }

  private static void subtract(double[] row, double[] from, double factor, int begin) {
    for (int j = begin; j < row.length; j++) {
      row[j] -= factor * from[j];
    }
  }

  private void subtractPanel(int i, int from, int end) {
    if (end - from < PANEL) {
      for (int k = from; k < end; k++) {
        subtract(rows[i], rows[k], rows[k][i], i);
      }
      return;
    }
    double[] row = rows[i];
    double[] a = rows[from];
    double[] b = rows[from + 1];
    double[] c = rows[from + 2];
    double[] d = rows[from + 3];
    double fa = a[i];
    double fb = b[i];
    double fc = c[i];
    double fd = d[i];
    for (int j = i; j < row.length; j++) {
      row[j] -= fa * a[j] + fb * b[j] + fc * c[j] + fd * d[j];
    }
  }

  /**
   * @param b (size, columns), set to X
   */
  void solve(double[][] b) {
    for (int k = 0; k < size; k++) {
      divide(b[k], rows[k][k]);
      for (int i = k + 1; i < size; i++) {
        subtract(b[i], b[k], rows[k][i], 0);
      }
    }
    for (int k = size - 1; k >= 0; k--) {
      for (int i = k + 1; i < size; i++) {
        subtract(b[k], b[i], rows[k][i], 0);
      }
      divide(b[k], rows[k][k]);
    }
  }

  private static void divide(double[] row, double by) {
    for (int j = 0; j < row.length; j++) {
      row[j] /= by;
    }
  }
}
