package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;

/** How second rows depend on first ones, and the resulting least-squares problem. */
enum RowStructure {
  /** Independent rows, for values. The normal equations are {@code (P^T w P) rows = P^T w x}. */
  FREE {
    @Override
    void fill(Moments moments, double[][] matrix, double[][] right) {
      for (int i = 0; i < matrix.length; i++) {
        for (int j = i; j < matrix.length; j++) {
          matrix[i][j] = moments.cooccurrences(i, j);
        }
        System.arraycopy(moments.sums()[i], 0, right[i], 0, right[i].length);
      }
    }

    @Override
    void toUnknowns(float[] rows, int length, double[][] out) {
      for (int i = 0; i < out.length; i++) {
        for (int d = 0; d < length; d++) {
          out[i][d] = rows[i * length + d];
        }
      }
    }

    @Override
    void toRows(double[][] unknowns, int length, float[] out) {
      for (int i = 0; i < unknowns.length; i++) {
        for (int d = 0; d < length; d++) {
          out[i * length + d] = (float) unknowns[i][d];
        }
      }
    }
  },

  /**
   * Second rows are first ones times i, for keys in pair order. With P and Q the matrices of first
   * and second rows, a complex vector is {@code (P + iQ) z}, and the normal equations are {@code (D
   * + iK) z = P^T x - i Q^T x}, {@code D = P^T P + Q^T Q}, {@code K = P^T Q - Q^T P}, in real
   * numbers
   *
   * <pre>
   * | D -K |  | X |     | Px + Qy |
   * | K  D |  | Y |  =  | Py - Qx |
   * </pre>
   *
   * The matrix is the same for all channel pairs, which are its right-hand sides.
   */
  COMMUTING {
    @Override
    void fill(Moments moments, double[][] matrix, double[][] right) {
      int half = matrix.length / 2;
      int pairs = right[0].length;
      for (int i = 0; i < half; i++) {
        for (int j = 0; j < half; j++) {
          double d =
              moments.cooccurrences(first(i), first(j))
                  + moments.cooccurrences(second(i), second(j));
          double k =
              moments.cooccurrences(first(i), second(j))
                  - moments.cooccurrences(second(i), first(j));
          matrix[i][j] = d;
          matrix[half + i][half + j] = d;
          matrix[i][half + j] = -k;
        }
        double[] p = moments.sums()[first(i)];
        double[] q = moments.sums()[second(i)];
        for (int pair = 0; pair < pairs; pair++) {
          right[i][pair] = p[pair] + q[pairs + pair];
          right[half + i][pair] = p[pairs + pair] - q[pair];
        }
      }
    }

    @Override
    void toUnknowns(float[] rows, int length, double[][] out) {
      int half = out.length / 2;
      for (int i = 0; i < half; i++) {
        for (int pair = 0; pair < length / 2; pair++) {
          out[i][pair] = rows[first(i) * length + pair];
          out[half + i][pair] = rows[first(i) * length + length / 2 + pair];
        }
      }
    }

    @Override
    void toRows(double[][] unknowns, int length, float[] out) {
      int half = unknowns.length / 2;
      for (int i = 0; i < half; i++) {
        for (int pair = 0; pair < length / 2; pair++) {
          float x = (float) unknowns[i][pair];
          float y = (float) unknowns[half + i][pair];
          out[first(i) * length + pair] = x;
          out[first(i) * length + length / 2 + pair] = y;
          out[second(i) * length + pair] = -y;
          out[second(i) * length + length / 2 + pair] = x;
        }
      }
    }
  };

  private static final int ROWS = AdditiveStages.ROWS;

  /** Returns the index among all rows of the i-th first row, counted over all stages. */
  private static int first(int i) {
    return i / ROWS * 2 * ROWS + i % ROWS;
  }

  private static int second(int i) {
    return first(i) + ROWS;
  }

  /** Sets the normal equations: the upper triangle of the matrix and all right-hand sides. */
  abstract void fill(Moments moments, double[][] matrix, double[][] right);

  /** Converts rows (stages, 2, ROWS, length) to the unknowns of the equations. */
  abstract void toUnknowns(float[] rows, int length, double[][] out);

  abstract void toRows(double[][] unknowns, int length, float[] out);

  private double[][] newUnknowns(int stages, int length) {
    return new double[2 * ROWS * stages][this == COMMUTING ? length / 2 : length];
  }

  /** Recomputes dependent second rows from first ones: (stages, 2, ROWS, length). */
  void enforce(float[] rows, int length) {
    double[][] unknowns = newUnknowns(rows.length / (2 * ROWS * length), length);
    toUnknowns(rows, length, unknowns);
    toRows(unknowns, length, rows);
  }

  /**
   * Returns the rows with the smallest squared error on the vectors of the moments.
   *
   * @param rows (stages, 2, ROWS, length), the current rows; each counts as {@code priorWeight}
   *     vectors, which keeps unused rows and undetermined directions in place
   * @return (stages, 2, ROWS, length)
   */
  float[] fit(Moments moments, float[] rows, int length, double priorWeight) {
    double[][] right = newUnknowns(moments.stages(), length);
    double[][] before = newUnknowns(moments.stages(), length);
    int size = right.length;
    double[][] matrix = new double[size][size];
    fill(moments, matrix, right);
    toUnknowns(rows, length, before);
    for (int i = 0; i < size; i++) {
      matrix[i][i] += priorWeight;
      for (int d = 0; d < right[i].length; d++) {
        right[i][d] += priorWeight * before[i][d];
      }
    }
    new Cholesky(matrix).solve(right);
    float[] out = new float[rows.length];
    toRows(right, length, out);
    return out;
  }
}
