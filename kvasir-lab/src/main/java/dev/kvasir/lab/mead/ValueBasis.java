package dev.kvasir.lab.mead;

import java.util.Arrays;
import java.util.Comparator;
import org.ojalgo.matrix.decomposition.Cholesky;
import org.ojalgo.matrix.decomposition.Eigenvalue;
import org.ojalgo.matrix.decomposition.LU;
import org.ojalgo.matrix.store.MatrixStore;
import org.ojalgo.matrix.store.R064Store;

/**
 * The components of a head's values. With the metric {@code F = C C^T}, {@code y = U^T C^T v},
 * where U are the eigenvectors of {@code C^T S C} and S is the covariance. Errors of components
 * then have equal cost, and components are uncorrelated.
 *
 * @param to (components, channels)
 * @param from (channels, components)
 */
record ValueBasis(float[] to, float[] from) {
  /** Regularization of the diagonal relative to its mean. */
  private static final double RIDGE = 0.03;

  /**
   * @param metric (dim, dim)
   * @param covariance (dim, dim)
   */
  static ValueBasis of(double[] metric, double[] covariance, int dim) {
    MatrixStore<Double> c = lower(regularized(metric, dim), dim);
    MatrixStore<Double> inner = c.transpose().multiply(store(covariance, dim)).multiply(c);
    Eigenvalue<Double> eigen = Eigenvalue.R064.make(dim, true);
    eigen.decompose(inner);
    MatrixStore<Double> vectors = eigen.getV();
    Integer[] order = new Integer[dim];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, Comparator.comparingDouble((Integer i) -> -eigen.getD().doubleValue(i, i)));
    MatrixStore<Double> there = vectors.transpose().multiply(c.transpose());
    LU<Double> parts = LU.R064.make(dim, dim);
    parts.decompose(there);
    MatrixStore<Double> back = parts.getInverse();
    float[] to = new float[dim * dim];
    float[] from = new float[dim * dim];
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        to[i * dim + j] = (float) there.doubleValue(order[i], j);
        from[j * dim + i] = (float) back.doubleValue(j, order[i]);
      }
    }
    return new ValueBasis(to, from);
  }

  private static MatrixStore<Double> lower(double[] metric, int dim) {
    Cholesky<Double> cholesky = Cholesky.R064.make(dim, dim);
    cholesky.decompose(store(metric, dim));
    return cholesky.getL();
  }

  /**
   * Returns the lower triangle C of a regular metric {@code C . C^T}.
   *
   * @return (dim, dim)
   */
  static double[] root(double[] metric, int dim) {
    MatrixStore<Double> c = lower(metric, dim);
    double[] root = new double[dim * dim];
    for (int i = 0; i < root.length; i++) {
      root[i] = c.doubleValue(i / dim, i % dim);
    }
    return root;
  }

  /** Returns a metric with a small addition to its diagonal. */
  static double[] regularized(double[] metric, int dim) {
    double mean = 0;
    for (int i = 0; i < dim; i++) {
      mean += metric[i * dim + i] / dim;
    }
    double[] regular = metric.clone();
    for (int i = 0; i < dim; i++) {
      regular[i * dim + i] += RIDGE * mean + Double.MIN_NORMAL;
    }
    return regular;
  }

  static double[] regularizedDiagonal(double[] metric) {
    double mean = Arrays.stream(metric).average().orElseThrow();
    return Arrays.stream(metric).map(x -> x + RIDGE * mean + Double.MIN_NORMAL).toArray();
  }

  private static R064Store store(double[] numbers, int dim) {
    R064Store store = R064Store.FACTORY.make(dim, dim);
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        store.set(i, j, numbers[i * dim + j]);
      }
    }
    return store;
  }
}
