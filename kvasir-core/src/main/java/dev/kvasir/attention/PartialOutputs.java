package dev.kvasir.attention;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * What walks over different spans of a sequence found, to be merged: for every row a maximum, a sum
 * and a weighted mix of values, each under the span's own maximum.
 */
final class PartialOutputs {
  private final int mostRows;
  private final int valueDim;
  private float[] mixed = {}; // (slots, mostRows, valueDim)
  private float[] maxima = {}; // (slots, mostRows)
  private float[] sums = {}; // (slots, mostRows)

  PartialOutputs(int mostRows, int valueDim) {
    this.mostRows = mostRows;
    this.valueDim = valueDim;
  }

  /** Makes room; what was there is lost. */
  void makeRoom(int slots) {
    int most = Integer.MAX_VALUE / mostRows / valueDim;
    if (slots > most) {
      throw new IllegalArgumentException(
          "a step of %d spans of pages in all heads; expected at most %d".formatted(slots, most));
    }
    int rows = slots * mostRows;
    if (maxima.length < rows) {
      mixed = new float[rows * valueDim];
      maxima = new float[rows];
      sums = new float[rows];
    }
  }

  void put(int slot, int rows, float[] someMixed, float[] someMaxima, float[] someSums) {
    int at = slot * mostRows;
    System.arraycopy(someMixed, 0, mixed, at * valueDim, rows * valueDim);
    System.arraycopy(someMaxima, 0, maxima, at, rows);
    System.arraycopy(someSums, 0, sums, at, rows);
  }

  /**
   * Merges a row of consecutive slots, in their order. A span that a row's window does not reach
   * left a maximum of minus infinity and counts for nothing.
   *
   * @param sink a score that takes its share and gives nothing; minus infinity for none
   */
  void merge(Kernels kernels, int firstSlot, int slots, int row, float sink, float[] out, int at) {
    float largest = largest(firstSlot, slots, row);
    float total = (float) Math.exp(sink - largest);
    Arrays.fill(out, at, at + valueDim, 0);
    for (int slot = firstSlot; slot < firstSlot + slots; slot++) {
      int from = slot * mostRows + row;
      float shrink = (float) Math.exp(maxima[from] - largest);
      total += sums[from] * shrink;
      kernels.rows().scale(mixed, from * valueDim, valueDim, shrink);
      kernels.rows().add(out, at, mixed, from * valueDim, valueDim);
    }
    kernels.rows().scale(out, at, valueDim, 1 / total);
  }

  private float largest(int firstSlot, int slots, int row) {
    float largest = Float.NEGATIVE_INFINITY;
    for (int slot = firstSlot; slot < firstSlot + slots; slot++) {
      largest = Math.max(largest, maxima[slot * mostRows + row]);
    }
    return largest;
  }

  /** The logarithm of what a row's exponentials add up to in consecutive slots. */
  float logSum(int firstSlot, int slots, int row, float sink) {
    float largest = largest(firstSlot, slots, row);
    float total = (float) Math.exp(sink - largest);
    for (int slot = firstSlot; slot < firstSlot + slots; slot++) {
      int from = slot * mostRows + row;
      total += sums[from] * (float) Math.exp(maxima[from] - largest);
    }
    return PageWalk.logSum(largest, total);
  }
}
