package dev.kvasir.kernel;

/** Products and sums of rows of floats. Operands whose shapes do not fit each other are refused. */
public interface FloatKernels {
  /**
   * {@code c[i][j] = a[i] . b[j]}: both operands row by row, so that a dot product reads memory in
   * order.
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
