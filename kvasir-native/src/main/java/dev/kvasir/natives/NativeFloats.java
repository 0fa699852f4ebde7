package dev.kvasir.natives;

import dev.kvasir.kernel.FloatKernels;

/** Products and sums of floats; a call takes as many rows as stay within its time. */
final class NativeFloats implements FloatKernels {
  /** Multiplications, some 40 microseconds of them. */
  private static final Work PRODUCTS_OF_A_CALL = new Work(1 << 19);

  private static final Call PRODUCTS = rowsAndRows("products");
  private static final Call WEIGHTED_SUMS = rowsAndRows("weighted_sums");

  private static Call rowsAndRows(String name) {
    return Calls.floats(
        name,
        float[].class,
        int.class,
        int.class,
        int.class,
        float[].class,
        int.class,
        int.class,
        int.class,
        int.class,
        float[].class,
        int.class,
        int.class);
  }

  @Override
  public void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows,
      float[] b,
      int bAt,
      int bStride,
      int bRows,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    Bounds.check(a.length, aAt, aRows, aStride, depth);
    Bounds.check(b.length, bAt, bRows, bStride, depth);
    Bounds.check(c.length, cAt, aRows, cStride, bRows);
    int together = PRODUCTS_OF_A_CALL.together(aRows, (long) bRows * depth);
    for (int row = 0; row < aRows; row += together) {
      int count = Math.min(together, aRows - row);
      try {
        PRODUCTS.handle.invokeExact(
            a,
            aAt + row * aStride,
            aStride,
            count,
            b,
            bAt,
            bStride,
            bRows,
            depth,
            c,
            cAt + row * cStride,
            cStride);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      float[] v,
      int vAt,
      int vStride,
      int tokens,
      int length,
      float[] out,
      int outAt,
      int outStride) {
    Bounds.check(weights.length, weightsAt, rows, weightsStride, tokens);
    Bounds.check(v.length, vAt, tokens, vStride, length);
    Bounds.check(out.length, outAt, rows, outStride, length);
    int together = PRODUCTS_OF_A_CALL.together(rows, (long) tokens * length);
    for (int row = 0; row < rows; row += together) {
      int count = Math.min(together, rows - row);
      try {
        WEIGHTED_SUMS.handle.invokeExact(
            weights,
            weightsAt + row * weightsStride,
            weightsStride,
            count,
            v,
            vAt,
            vStride,
            tokens,
            length,
            out,
            outAt + row * outStride,
            outStride);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }
}
