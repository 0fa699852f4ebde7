package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;

/**
 * The statistics of vectors and codes that least squares needs: how often two rows are used
 * together, and the sum of the vectors that use a row. With {@code P} the matrix of rows used by
 * each vector and weights {@code w}, these are {@code P^T w P} and {@code P^T w x}.
 */
final class Moments {
  private static final int ROWS = AdditiveStages.ROWS;

  private final int stages;
  private final double[][] cooccurrences; // (2 * ROWS * stages)^2, the upper triangle
  private final double[][] sums; // (2 * ROWS * stages, length)
  private final int[] used; // (2 * stages), the rows of one vector

  Moments(int stages, int length) {
    this.stages = stages;
    this.cooccurrences = new double[2 * ROWS * stages][2 * ROWS * stages];
    this.sums = new double[2 * ROWS * stages][length];
    this.used = new int[2 * stages];
  }

  int stages() {
    return stages;
  }

  double[][] sums() {
    return sums;
  }

  /** Returns how often two rows, in the order of {@link AdditiveStages#rows}, are used together. */
  double cooccurrences(int one, int other) {
    return one <= other ? cooccurrences[one][other] : cooccurrences[other][one];
  }

  /** Adds a vector that uses one code of each stage. */
  void add(short[] codes, int at, float[] x, int xAt, double weight) {
    for (int stage = 0; stage < stages; stage++) {
      int code = codes[at + stage];
      used[2 * stage] = 2 * stage * ROWS + AdditiveStages.first(code);
      used[2 * stage + 1] = (2 * stage + 1) * ROWS + AdditiveStages.second(code);
    }
    for (int i = 0; i < used.length; i++) {
      double[] row = cooccurrences[used[i]];
      for (int j = i; j < used.length; j++) {
        row[used[j]] += weight;
      }
      double[] sum = sums[used[i]];
      for (int d = 0; d < sum.length; d++) {
        sum[d] += weight * x[xAt + d];
      }
    }
  }
}
