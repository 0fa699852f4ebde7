package dev.kvasir.bench;

/**
 * A tensor of a model with random weights.
 *
 * @param outputs rows; 0 for a vector
 * @param matrices stacked in the tensor; 0 for a plain matrix
 * @param isQuantized whether it has the weight type; otherwise it has 32-bit floats
 * @param constant the value of all its numbers; NaN if they are random
 */
record RandomTensor(
    String name, int inputs, int outputs, int matrices, boolean isQuantized, float constant) {
  /** A matrix of the weight type. */
  RandomTensor(String name, int inputs, int outputs) {
    this(name, inputs, outputs, 0, true);
  }

  RandomTensor(String name, int inputs, int outputs, int matrices, boolean isQuantized) {
    this(name, inputs, outputs, matrices, isQuantized, Float.NaN);
  }

  /** Returns a vector of ones. */
  static RandomTensor ones(String name, int count) {
    return constant(name, count, 0, 1);
  }

  /**
   * Returns floats of one value.
   *
   * @param rows 0 for a vector
   */
  static RandomTensor constant(String name, int columns, int rows, float value) {
    return new RandomTensor(name, columns, rows, 0, false, value);
  }

  long rows() {
    return Math.max(1L, outputs) * Math.max(1, matrices);
  }

  long[] shape() {
    return outputs == 0
        ? new long[] {inputs}
        : matrices == 0 ? new long[] {inputs, outputs} : new long[] {inputs, outputs, matrices};
  }
}
