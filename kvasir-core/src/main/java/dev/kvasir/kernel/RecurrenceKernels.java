package dev.kvasir.kernel;

/**
 * Recurrences over the tokens of a sequence. A head has a matrix as its state; blocks have a row
 * for each token. The columns of a matrix do not depend on each other.
 */
public interface RecurrenceKernels {
  /** {@code sums += x * y}, element-wise. */
  void addProducts(float[] x, int xAt, float[] y, int yAt, float[] sums, int at, int count);

  /**
   * A head of a gated delta net. For each token:
   *
   * <pre>
   * state *= decay;  change = (value - state^T key) * rate;  state += key change^T
   * out = state^T query
   * </pre>
   *
   * @param state // (width of keys, width of values), changed
   * @param values replaced by the changes
   * @param factors decay and rate
   */
  void deltaNet(
      float[] state,
      RowBlock queries,
      RowBlock keys,
      RowBlock values,
      RowBlock factors,
      RowBlock out);

  /**
   * A head of Mamba-2. For each token:
   *
   * <pre>
   * state = state * decay + input (step * channels)^T;  out = state^T output + skip * channels
   * </pre>
   *
   * @param state // (width of inputs, width of channels), changed
   * @param channels multiplied by the step
   * @param factors decay, step and skip
   */
  void mamba(
      float[] state,
      RowBlock channels,
      RowBlock inputs,
      RowBlock outputs,
      RowBlock factors,
      RowBlock out);
}
