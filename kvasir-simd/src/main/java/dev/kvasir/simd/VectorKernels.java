package dev.kvasir.simd;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRow;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.HalfQueries;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.LookupTables;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/** The arithmetic on the Vector API. Each group of kernels is a class of its own. */
final class VectorKernels implements Kernels {
  /** Look-ups and 16-bit products fill 16 rows with one vector of 256 bits, or two of 128. */
  private final boolean wideLanes;

  private final ScalarKernels scalar = new ScalarKernels();

  VectorKernels() {
    this(VectorWidth.bits() >= 256);
  }

  /** Lanes wider than the machine's are right too, and slow: tests hold both widths together. */
  VectorKernels(boolean wideLanes) {
    this.wideLanes = wideLanes;
  }

  @Override
  public String name() {
    return "Vector API, %d bits".formatted(VectorWidth.bits());
  }

  @Override
  public void prepare(CodedRow row, float[] x, int at, int columns, int codeBits) {
    row.code(x, at, columns);
    Spread.over(wideLanes, row, columns, codeBits);
  }

  /** The same without a vector, for as long as vectors are not compiled. */
  void prepareSlowly(CodedRow row, float[] x, int at, int columns, int codeBits) {
    row.code(x, at, columns);
    Spread.slowly(wideLanes, row, columns, codeBits);
  }

  @Override
  public void codedProduct(
      CodedMatrix matrix, int firstTile, int endTile, CodedRow row, float[] out, int outAt) {
    for (int tile = firstTile; tile < endTile; tile++) {
      int at = outAt + (tile - firstTile) * CodedMatrix.TILE_ROWS;
      int count = Math.min(CodedMatrix.TILE_ROWS, matrix.rows() - tile * CodedMatrix.TILE_ROWS);
      if (count == CodedMatrix.TILE_ROWS) {
        tileProduct(matrix, tile, row, out, at);
      } else {
        float[] whole = new float[CodedMatrix.TILE_ROWS];
        tileProduct(matrix, tile, row, whole, 0);
        System.arraycopy(whole, 0, out, at, count);
      }
    }
  }

  private void tileProduct(CodedMatrix matrix, int tile, CodedRow row, float[] out, int at) {
    if (wideLanes) {
      CodedTiles256.multiply(matrix, tile, row, out, at);
    } else {
      CodedTiles128.multiply(matrix, tile, row, out, at);
    }
    Spread.sortRows(out, at);
  }

  @Override
  public void expand(Matrix matrix, int firstRow, int count, float[] out, int outAt) {
    if (matrix instanceof DenseMatrix dense && dense.precision() != DenseMatrix.Precision.F32) {
      int values = count * dense.columns();
      long offset = dense.offset(firstRow);
      if (dense.precision() == DenseMatrix.Precision.F16) {
        HalfFloats.expandHalf(dense.data(), offset, out, outAt, values);
      } else {
        HalfFloats.expandBrainHalf(dense.data(), offset, out, outAt, values);
      }
    } else {
      scalar.expand(matrix, firstRow, count, out, outAt);
    }
  }

  @Override
  public void expandHalf(MemorySegment source, long offset, float[] out, int outAt, int count) {
    HalfFloats.expandHalf(source, offset, out, outAt, count);
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
    FloatProducts.products(a, aAt, aStride, aRows, b, bAt, bStride, bRows, depth, c, cAt, cStride);
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
    FloatSums.weightedSums(
        weights,
        weightsAt,
        weightsStride,
        rows,
        v,
        vAt,
        vStride,
        tokens,
        length,
        out,
        outAt,
        outStride);
  }

  @Override
  public void prepare(
      HalfQueries queries, float[] a, int at, int rows, int columns, Precision precision) {
    scalar.prepare(queries, a, at, rows, columns, precision);
    HalfProducts.arrange(queries, precision);
  }

  @Override
  public void halfProducts(
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
  public void halfSums(
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

  @Override
  public float maximum(float[] x, int at, int count) {
    return FloatRows.maximum(x, at, count);
  }

  @Override
  public void shortSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      MemorySegment codes,
      long offset,
      int codesStride,
      int entries,
      int lanes,
      float[] out,
      int outAt,
      int outStride) {
    ShortSums.add(
        weights,
        weightsAt,
        weightsStride,
        rows,
        codes,
        offset,
        codesStride,
        entries,
        lanes,
        out,
        outAt,
        outStride);
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    return FloatRows.exponentiate(x, at, count, shift);
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    FloatRows.rmsNorm(x, at, weight, epsilon, out, outAt, count);
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    FloatRows.gatedSilu(gate, up, at, count);
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    int i = 0;
    for (; i <= count - FloatRows.LANES; i += FloatRows.LANES) {
      FloatVector.fromArray(FloatRows.SPECIES, x, at + i)
          .add(FloatVector.fromArray(FloatRows.SPECIES, y, yAt + i))
          .intoArray(x, at + i);
    }
    for (; i < count; i++) {
      x[at + i] += y[yAt + i];
    }
  }

  @Override
  public void pickedProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int pickedAt,
      int count,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    PickedProducts.products(a, aRows, b, picked, pickedAt, count, depth, c, cAt, cStride);
  }

  @Override
  public void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    FloatRows.turn(vectors, at, count, pairs, cosines, sines, anglesAt);
  }

  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    CodeSums.unpackStages(source, offset, stages, indices);
  }

  @Override
  public void rowSums(FixedRows rows, byte[] indices, int tokens, short[] sums) {
    CodeSums.rowSums(rows, indices, tokens, sums);
  }

  @Override
  public void turnedSums(
      short[] sums,
      int tokens,
      FixedRows rows,
      float[] scales,
      float[] cosines,
      float[] sines,
      float[] out) {
    CodeSums.turnedSums(sums, tokens, rows, scales, cosines, sines, out);
  }

  @Override
  public void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    CodeSums.pickedSums(rows, at, indices, sets, tokens, width, sums);
  }

  @Override
  public void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    CodeSums.rowProducts(a, b, count, width, out);
  }

  @Override
  public void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    CodeSums.collect(indices, sets, tokens, weights, lanes, bins);
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    int i = 0;
    for (; i <= count - FloatRows.LANES; i += FloatRows.LANES) {
      FloatVector.fromArray(FloatRows.SPECIES, x, at + i)
          .mul(FloatVector.fromArray(FloatRows.SPECIES, y, yAt + i))
          .intoArray(out, outAt + i);
    }
    for (; i < count; i++) {
      out[outAt + i] = x[at + i] * y[yAt + i];
    }
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    int i = 0;
    for (; i <= count - FloatRows.LANES; i += FloatRows.LANES) {
      FloatVector.fromArray(FloatRows.SPECIES, x, at + i).mul(factor).intoArray(x, at + i);
    }
    for (; i < count; i++) {
      x[at + i] *= factor;
    }
  }

  @Override
  public void buildTables(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables) {
    PlaneTables.build(weights, at, stride, heads, entries, exact, tables);
  }

  @Override
  public void lookup(
      PlaneLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      LookupTables tables,
      float[] out,
      int outAt,
      int outStride) {
    PlaneLookups.lookup(layout, codes, offset, firstTile, endTile, tables, out, outAt, outStride);
  }
}
