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

  /**
   * {@code c[i][j] += a[i] . b[picked[j]]}, where a is turned after every {@code fan} products, in
   * place.
   *
   * @param a // (aRows, 2 * pairs)
   * @param b // (..., 2 * pairs)
   * @param c // (aRows, count), rows {@code cStride} apart
   */
  default void turningProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int count,
      int fan,
      int pairs,
      float[] cosines,
      float[] sines,
      int anglesAt,
      float[] c,
      int cStride) {
    for (int j = 0; j < count; j += fan) {
      int some = Math.min(fan, count - j);
      pickedProducts(a, aRows, b, picked, j, some, 2 * pairs, c, j, cStride);
      turn(a, 0, aRows, pairs, cosines, sines, anglesAt);
    }
  }
}
