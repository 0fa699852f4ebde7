package dev.kvasir.attention;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * What walks over different spans of a sequence found, to be merged: for every row a maximum, a sum
 * and a weighted mix of values, each under the span's own maximum.
 */
final class PartialOutputs {
  private final int maxRows;
  private final int valueDim;
  private float[] accumulators = {}; // (slots, mostRows, valueDim)
  private float[] maxima = {}; // (slots, mostRows)
  private float[] sums = {}; // (slots, mostRows)

  PartialOutputs(int maxRows, int valueDim) {
    this.maxRows = maxRows;
    this.valueDim = valueDim;
  }

  /** Makes room; what was there is lost. */
  void ensureCapacity(int slots) {
    int maxSlots = Integer.MAX_VALUE / maxRows / valueDim;
    if (slots > maxSlots) {
      throw new IllegalArgumentException(
          "a step of %d spans of pages in all heads; expected at most %d"
              .formatted(slots, maxSlots));
    }
    int rows = slots * maxRows;
    if (maxima.length < rows) {
      accumulators = new float[rows * valueDim];
      maxima = new float[rows];
      sums = new float[rows];
    }
  }

  void put(int slot, int rows, float[] rowAccumulators, float[] rowMaxima, float[] rowSums) {
    int at = slot * maxRows;
    System.arraycopy(rowAccumulators, 0, accumulators, at * valueDim, rows * valueDim);
    System.arraycopy(rowMaxima, 0, maxima, at, rows);
    System.arraycopy(rowSums, 0, sums, at, rows);
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
      int from = slot * maxRows + row;
      float rescale = (float) Math.exp(maxima[from] - largest);
      total += sums[from] * rescale;
      kernels.rows().scale(accumulators, from * valueDim, valueDim, rescale);
      kernels.rows().add(out, at, accumulators, from * valueDim, valueDim);
    }
    kernels.rows().scale(out, at, valueDim, 1 / total);
  }

  private float largest(int firstSlot, int slots, int row) {
    float largest = Float.NEGATIVE_INFINITY;
    for (int slot = firstSlot; slot < firstSlot + slots; slot++) {
      largest = Math.max(largest, maxima[slot * maxRows + row]);
    }
    return largest;
  }

  /** The logarithm of what a row's exponentials add up to in consecutive slots. */
  float logSum(int firstSlot, int slots, int row, float sink) {
    float largest = largest(firstSlot, slots, row);
    float total = (float) Math.exp(sink - largest);
    for (int slot = firstSlot; slot < firstSlot + slots; slot++) {
      int from = slot * maxRows + row;
      total += sums[from] * (float) Math.exp(maxima[from] - largest);
    }
    return KvPass.logSum(largest, total);
  }
}
