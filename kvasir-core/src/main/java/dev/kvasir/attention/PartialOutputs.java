package dev.kvasir.attention;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * Partial outputs of passes over different KV splits of a sequence. Each row has a maximum, a sum
 * and an accumulator of weighted values, relative to the split's own maximum.
 */
final class PartialOutputs {
  private final int maxRows;
  private final int valueDim;
  private float[] accumulators = {}; // (slots, maxRows, valueDim)
  private float[] maxima = {}; // (slots, maxRows)
  private float[] sums = {}; // (slots, maxRows)

  PartialOutputs(int maxRows, int valueDim) {
    this.maxRows = maxRows;
    this.valueDim = valueDim;
  }

  /** Ensures memory for {@code slots} partial outputs; earlier contents are lost. */
  void ensureCapacity(int slots) {
    int maxSlots = Integer.MAX_VALUE / maxRows / valueDim;
    if (slots > maxSlots) {
      throw new IllegalArgumentException(
          "a step of %d KV splits in all heads; expected at most %d".formatted(slots, maxSlots));
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
   * Merges a row of consecutive slots, in their order. A split outside a row's window has a maximum
   * of minus infinity and contributes nothing.
   *
   * @param sink a score that joins the softmax without a value; minus infinity for none
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

  /** Returns the log-sum-exp of a row over consecutive slots. */
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
