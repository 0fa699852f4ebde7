package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;

/** Converts logits to probabilities. */
final class Softmax {
  private Softmax() {}

  /**
   * Replaces the logits with probabilities.
   *
   * @return the log-sum-exp
   */
  static double compute(Kernels kernels, float[] logits, int at, int count) {
    float most = kernels.rows().maximum(logits, at, count);
    float sum = kernels.rows().exponentiate(logits, at, count, most);
    kernels.rows().scale(logits, at, count, 1 / sum);
    return Math.log(sum) + most;
  }
}
