package dev.kvasir.lab.mead;

import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;
import org.ojalgo.matrix.decomposition.Cholesky;
import org.ojalgo.matrix.store.MatrixStore;
import org.ojalgo.matrix.store.R064Store;

/**
 * Predicts a layer's keys and values from the token id: a regression on token features, corrected
 * by the mean residual of ids that occur often enough.
 */
final class TokenTable {
  /** Number of occurrences at which a mean residual counts half. */
  private static final double PRIOR_COUNT = 12;

  private static final double RIDGE = 1e-3;

  private TokenTable() {}

  /**
   * @param features features of each id (vocabulary, count), scaled to standard deviations of about
   *     1
   * @param counts frequency of each id
   * @param sums (vocabulary, width)
   * @return (vocabulary, width)
   */
  static float[] fit(
      float[] features, int count, int[] counts, float[] sums, int width, WorkerPool workers) {
    int vocabulary = counts.length;
    double[][] normal = normal(features, count, counts, workers);
    double all = Arrays.stream(counts).sum();
    for (int i = 0; i < count; i++) {
      normal[i][i] += RIDGE * all;
    }
    double[][] right = right(features, count, sums, width, vocabulary, workers);
    Cholesky<Double> cholesky = Cholesky.R064.make(count, count);
    cholesky.decompose(store(normal));
    MatrixStore<Double> weights = cholesky.getSolution(store(right));
    float[] table = new float[vocabulary * width];
    double[][] ofFeature = new double[count][width];
    for (int f = 0; f < count; f++) {
      for (int i = 0; i < width; i++) {
        ofFeature[f][i] = weights.doubleValue(f, i);
      }
    }
    workers.run(
        (id, worker) -> row(id, features, count, ofFeature, counts[id], sums, width, table),
        vocabulary);
    return table;
  }

  private static R064Store store(double[][] rows) {
    R064Store store = R064Store.FACTORY.make(rows.length, rows[0].length);
    for (int i = 0; i < rows.length; i++) {
      for (int j = 0; j < rows[i].length; j++) {
        store.set(i, j, rows[i][j]);
      }
    }
    return store;
  }

  private static double[][] normal(float[] features, int count, int[] counts, WorkerPool workers) {
    double[][] normal = new double[count][count];
    workers.run(
        (i, worker) -> {
          for (int id = 0; id < counts.length; id++) {
            if (counts[id] > 0) {
              int at = id * count;
              double weighted = (double) counts[id] * features[at + i];
              double[] row = normal[i];
              for (int j = 0; j < count; j++) {
                row[j] += weighted * features[at + j];
              }
            }
          }
        },
        count);
    return normal;
  }

  private static double[][] right(
      float[] features, int count, float[] sums, int width, int vocabulary, WorkerPool workers) {
    double[][] right = new double[count][width];
    workers.run(
        (i, worker) -> {
          double[] row = right[i];
          for (int id = 0; id < vocabulary; id++) {
            double feature = features[id * count + i];
            int at = id * width;
            for (int j = 0; j < width; j++) {
              row[j] += feature * sums[at + j];
            }
          }
        },
        count);
    return right;
  }

  private static void row(
      int id,
      float[] features,
      int count,
      double[][] weights,
      int met,
      float[] sums,
      int width,
      float[] table) {
    double[] row = new double[width];
    for (int f = 0; f < count; f++) {
      double feature = features[id * count + f];
      for (int i = 0; i < width; i++) {
        row[i] += feature * weights[f][i];
      }
    }
    double trust = met / (met + PRIOR_COUNT);
    for (int i = 0; i < width; i++) {
      double correction = met == 0 ? 0 : sums[id * width + i] / met - row[i];
      table[id * width + i] = (float) (row[i] + trust * correction);
    }
  }
}
