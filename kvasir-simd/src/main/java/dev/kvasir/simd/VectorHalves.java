package dev.kvasir.simd;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.HalfQueries;
import dev.kvasir.kernel.TileRoom;
import java.lang.foreign.MemorySegment;

/** Rows of 16-bit floats on the Vector API. */
final class VectorHalves implements HalfKernels {
  private final HalfKernels scalar;

  VectorHalves(HalfKernels scalar) {
    this.scalar = scalar;
  }

  @Override
  public void expand(DenseMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    int values = count * matrix.columns();
    long offset = matrix.offset(firstRow);
    switch (matrix.precision()) {
      case F32 -> scalar.expand(matrix, firstRow, count, out, outAt);
      case F16 -> HalfFloats.expandHalf(matrix.data(), offset, out, outAt, values);
      case BF16 -> HalfFloats.expandBrainHalf(matrix.data(), offset, out, outAt, values);
    }
  }

  @Override
  public void expand(MemorySegment source, long offset, float[] out, int outAt, int count) {
    HalfFloats.expandHalf(source, offset, out, outAt, count);
  }

  @Override
  public void products(
      float[] a,
      int aRows,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride,
      TileRoom room) {
    int columns = b.columns();
    float[] rows = room.weights(bRows * columns);
    expand(b, firstRow, bRows, rows, 0);
    FloatProducts.products(a, 0, columns, aRows, rows, 0, columns, bRows, columns, c, cAt, cStride);
  }

  @Override
  public void prepare(
      HalfQueries queries, float[] a, int at, int rows, int columns, Precision precision) {
    scalar.prepare(queries, a, at, rows, columns, precision);
    HalfProducts.arrange(queries, precision);
  }

  @Override
  public void products(
      HalfQueries queries,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride) {
    HalfProducts.products(queries, b, firstRow, bRows, c, cAt, cStride);
  }

  @Override
  public void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      DenseMatrix v,
      int firstRow,
      int tokens,
      float[] out,
      int outAt,
      int outStride) {
    HalfSums.weightedSums(
        weights, weightsAt, weightsStride, rows, v, firstRow, tokens, out, outAt, outStride);
  }
}
