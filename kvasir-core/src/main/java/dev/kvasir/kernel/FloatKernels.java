package dev.kvasir.kernel;

/**
 * Products and sums of rows of floats. Kernels throw if the shapes of the operands do not match.
 */
public interface FloatKernels {
  /**
   * {@code c[i][j] = a[i] . b[j]}. Both operands are in row-major order, so that a dot product
   * reads memory sequentially.
   *
   * @param a // (a.rows, depth)
   * @param b // (b.rows, depth)
   * @param c // (a.rows, b.rows), set
   */
  void products(RowBlock a, RowBlock b, RowBlock c);

  /**
   * {@code out[i] += sum over t of weights[i][t] * v[t]}.
   *
   * @param weights // (rows, tokens)
   * @param v // (tokens, length)
   * @param out // (rows, length), added to
   */
  void weightedSums(RowBlock weights, RowBlock v, RowBlock out);
}
