package dev.kvasir.kernel;

/** Rows that are picked by number, and vectors that turn. */
public interface PatternKernels {
  /**
   * {@code c[i][j] += a[i] . b[picked[j]]}, for rows that are picked by number.
   *
   * @param depth a multiple of 16
   */
  void pickedProducts(
      float[] a,
      int aRows, // (aRows, depth)
      float[] b, // (..., depth)
      int[] picked,
      int pickedAt,
      int count,
      int depth,
      float[] c,
      int cAt,
      int cStride); // (aRows, count)

  /**
   * Turns vectors in place: {@code (x, y)} becomes {@code (x cos - y sin, y cos + x sin)}, with x
   * in the first half of a vector and y in the second.
   *
   * @param vectors // (count, 2 * pairs)
   * @param pairs a multiple of 16
   * @param cosines // (pairs) from {@code anglesAt} on, as the sines
   */
  void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt);
}
