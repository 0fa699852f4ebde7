package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;

/** Probabilities of logits. */
final class Softmax {
  private Softmax() {}

  /**
   * Leaves probabilities where the logits are.
   *
   * @return the logarithm of the sum of exponentials
   */
  static double compute(Kernels kernels, float[] logits, int at, int count) {
    float most = kernels.rows().maximum(logits, at, count);
    float sum = kernels.rows().exponentiate(logits, at, count, most);
    kernels.rows().scale(logits, at, count, 1 / sum);
    return Math.log(sum) + most;
  }
}
