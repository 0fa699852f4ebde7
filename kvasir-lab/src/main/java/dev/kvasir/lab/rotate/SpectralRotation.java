package dev.kvasir.lab.rotate;

import dev.kvasir.codec.basis.Hadamard;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.ojalgo.matrix.decomposition.Eigenvalue;
import org.ojalgo.matrix.store.R064Store;

/**
 * The rotation {@code U H P} of second moments: eigenvectors from the largest to the smallest
 * eigenvalue, a Hadamard transform that gives every element equal importance, and a permutation
 * that spreads both ends over neighboring groups.
 */
final class SpectralRotation {
  private SpectralRotation() {}

  /**
   * @param moments (dim, dim), symmetric
   * @return (dim, dim), rows to multiply a vector with
   */
  static float[] of(double[] moments, int dim) {
    R064Store store = R064Store.FACTORY.make(dim, dim);
    for (int i = 0; i < moments.length; i++) {
      store.set(i / dim, i % dim, moments[i]);
    }
    Eigenvalue<Double> eigen = Eigenvalue.R064.make(dim, true);
    eigen.decompose(store);
    int[] falling =
        IntStream.range(0, dim)
            .boxed()
            .sorted(Comparator.comparingDouble((Integer i) -> -eigen.getD().doubleValue(i, i)))
            .mapToInt(Integer::intValue)
            .toArray();
    Hadamard hadamard = Hadamard.plain(dim);
    int[] order = bitReversal(dim);
    float[] rows = new float[dim * dim];
    float[] column = new float[dim];
    for (int channel = 0; channel < dim; channel++) {
      for (int i = 0; i < dim; i++) {
        column[i] = eigen.getV().get(channel, falling[i]).floatValue();
      }
      hadamard.transform(0, column, 0, 1);
      for (int i = 0; i < dim; i++) {
        rows[i * dim + channel] = column[order[i]];
      }
    }
    return rows;
  }

  /** Returns the numbers below a bound in bit-reversed order. */
  static int[] bitReversal(int count) {
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, Comparator.comparingInt(i -> Integer.reverse(i) >>> 1));
    return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
  }
}
