package dev.kvasir.lab.mead;

import dev.kvasir.codec.mead.HeadProfile;
import java.util.Arrays;
import org.ojalgo.matrix.decomposition.LU;
import org.ojalgo.matrix.store.MatrixStore;
import org.ojalgo.matrix.store.R064Store;

/**
 * The cost of errors in a head's keys and values: the Fisher information of the model's predictions
 * plus that of answer margins, weighted so that both contribute equally over all layers.
 *
 * @param keys (keyDim), the diagonal
 * @param values (valueDim, valueDim)
 * @param importance (keys and values, ranks), weight of an error by the rank of its token; 1 on
 *     average
 */
record Metric(double[] keys, double[] values, float[] importance) {
  private static final int RANKS = HeadProfile.RANK_BUCKETS;

  /**
   * @param margins null if there are no lookups
   * @param share factor for margins
   * @param raised factor for the whole metric
   */
  static Metric of(
      MetricSums prose, MetricSums margins, double share, double raised, int layer, int head) {
    double[][] keys = new double[RANKS][];
    double[][] values = new double[RANKS][];
    for (int rank = 0; rank < RANKS; rank++) {
      keys[rank] = prose.keys(layer, head, rank);
      values[rank] = prose.values(layer, head, rank);
      if (margins != null) {
        add(keys[rank], margins.keys(layer, head, rank), share);
        add(values[rank], margins.values(layer, head, rank), share);
      }
    }
    int dim = keys[0].length;
    int valueDim = (int) Math.round(Math.sqrt(values[0].length));
    double[] allKeys = ValueBasis.regularizedDiagonal(sum(keys));
    double[] allValues = ValueBasis.regularized(sum(values), valueDim);
    float[] importance = new float[2 * RANKS];
    double[] ofKeys = new double[RANKS];
    double[] ofValues = new double[RANKS];
    double[] inverse = inverse(allValues, valueDim);
    for (int rank = 0; rank < RANKS; rank++) {
      for (int i = 0; i < dim; i++) {
        ofKeys[rank] += keys[rank][i] / allKeys[i];
      }
      for (int i = 0; i < inverse.length; i++) {
        ofValues[rank] += inverse[i] * values[rank][i];
      }
    }
    write(ofKeys, importance, 0);
    write(ofValues, importance, RANKS);
    return new Metric(times(allKeys, raised), times(allValues, raised), importance);
  }

  private static void write(double[] sums, float[] importance, int at) {
    double mean = Arrays.stream(sums).average().orElseThrow();
    for (int rank = 0; rank < RANKS; rank++) {
      importance[at + rank] = mean > 0 ? (float) (sums[rank] / mean) : 1;
    }
  }

  private static double[] inverse(double[] matrix, int dim) {
    R064Store store = R064Store.FACTORY.make(dim, dim);
    for (int i = 0; i < matrix.length; i++) {
      store.set(i / dim, i % dim, matrix[i]);
    }
    LU<Double> parts = LU.R064.make(dim, dim);
    parts.decompose(store);
    MatrixStore<Double> inverted = parts.getInverse();
    double[] inverse = new double[matrix.length];
    for (int i = 0; i < matrix.length; i++) {
      inverse[i] = inverted.doubleValue(i / dim, i % dim);
    }
    return inverse;
  }

  private static void add(double[] to, double[] from, double factor) {
    for (int i = 0; i < to.length; i++) {
      to[i] += factor * from[i];
    }
  }

  private static double[] sum(double[][] ranks) {
    double[] sum = new double[ranks[0].length];
    for (double[] rank : ranks) {
      add(sum, rank, 1);
    }
    return sum;
  }

  private static double[] times(double[] x, double factor) {
    return Arrays.stream(x).map(each -> each * factor).toArray();
  }

  /**
   * Returns the trace with a covariance, the cost of dropping everything.
   *
   * @param keyVariances (keyDim)
   * @param valueCovariance (valueDim, valueDim)
   */
  double trace(double[] keyVariances, double[] valueCovariance) {
    double trace = 0;
    for (int i = 0; i < keys.length; i++) {
      trace += keys[i] * keyVariances[i];
    }
    for (int i = 0; i < values.length; i++) {
      trace += values[i] * valueCovariance[i];
    }
    return trace;
  }
}
