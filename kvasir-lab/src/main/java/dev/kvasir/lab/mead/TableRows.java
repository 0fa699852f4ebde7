package dev.kvasir.lab.mead;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The token ids that have a table row of their own; all others share the last row.
 *
 * @param ids ids of rows, ascending
 * @param counts frequency of each id
 * @param rowOfIds row of each id
 */
record TableRows(int[] ids, int[] counts, int[] rowOfIds) {
  /** Weight of a row that never occurred in the texts. */
  private static final double MIN_WEIGHT = 0.5;

  /**
   * @param frequencies number of occurrences of each id
   * @param most number of rows for ids; 0 for none
   */
  static TableRows mostFrequent(int[] frequencies, int most) {
    int vocabulary = frequencies.length;
    int[] ids =
        IntStream.range(0, vocabulary)
            .boxed()
            .sorted(Comparator.comparingInt((Integer id) -> -frequencies[id]))
            .limit(most)
            .mapToInt(id -> id)
            .sorted()
            .toArray();
    int[] rowOfIds = new int[vocabulary];
    Arrays.fill(rowOfIds, ids.length);
    for (int row = 0; row < ids.length; row++) {
      rowOfIds[ids[row]] = row;
    }
    int[] counts = Arrays.stream(ids).map(id -> frequencies[id]).toArray();
    return new TableRows(ids, counts, rowOfIds);
  }

  int rows() {
    return ids.length + 1;
  }

  int rowOf(int id) {
    return rowOfIds[id];
  }

  double[] weights() {
    double[] weights = new double[rows()];
    Arrays.fill(weights, MIN_WEIGHT);
    for (int row = 0; row < ids.length; row++) {
      weights[row] += counts[row];
    }
    return weights;
  }
}
