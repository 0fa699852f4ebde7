package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowKernels;

/**
 * How the scores of a layer become attention weights.
 *
 * @param scale factor of the products of queries and keys
 * @param cap bound that scores are soft-capped to; 0 for none
 * @param window positions that a query sees, including its own
 * @param sinks score of a learned attention sink by query head; empty for none
 */
record ScoreRules(float scale, float cap, int window, float[] sinks) {
  /** Replaces products with scores. */
  void score(Kernels kernels, float[] products, int at, int count) {
    kernels.rows().scale(products, at, count, scale);
    if (cap > 0) {
      RowKernels.softCap(products, at, count, cap);
    }
  }

  /** Returns the score of a head's sink, or negative infinity. */
  float sink(int queryHead) {
    return sinks.length == 0 ? Float.NEGATIVE_INFINITY : sinks[queryHead];
  }
}
