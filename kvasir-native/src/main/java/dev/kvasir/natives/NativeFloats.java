package dev.kvasir.natives;

import static dev.kvasir.natives.WideCall.NONE;

import dev.kvasir.kernel.FloatKernels;
import java.lang.foreign.MemorySegment;

/** Products and sums of floats; a call takes as many rows as stay within its time. */
final class NativeFloats implements FloatKernels {
  /** Multiplications, some 40 microseconds of them. */
  private static final Work PRODUCTS_OF_A_CALL = new Work(1 << 19);

  private static final WideCall PRODUCTS = Calls.wide("products");
  private static final WideCall WEIGHTED_SUMS = Calls.wide("weighted_sums");

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
      PRODUCTS.with(
          MemorySegment.ofArray(a),
          MemorySegment.ofArray(b),
          MemorySegment.ofArray(c),
          NONE,
          NONE,
          NONE,
          NONE,
          NONE,
          aAt + row * aStride,
          aStride,
          count,
          bAt,
          bStride,
          bRows,
          depth,
          cAt + row * cStride,
          cStride);
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
      WEIGHTED_SUMS.with(
          MemorySegment.ofArray(weights),
          MemorySegment.ofArray(v),
          MemorySegment.ofArray(out),
          NONE,
          NONE,
          NONE,
          NONE,
          NONE,
          weightsAt + row * weightsStride,
          weightsStride,
          count,
          vAt,
          vStride,
          tokens,
          length,
          outAt + row * outStride,
          outStride);
    }
  }
}
