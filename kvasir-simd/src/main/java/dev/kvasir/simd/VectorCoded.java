package dev.kvasir.simd;

import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRow;

/** Products with weights of one width on the Vector API. */
final class VectorCoded implements CodedKernels {
  /** 16-bit products fill 16 rows with one vector of 256 bits, or two of 128. */
  private final boolean wideLanes;

  private final int codeBits;
  private final CodedKernels scalar;

  VectorCoded(boolean wideLanes, int codeBits, CodedKernels scalar) {
    this.wideLanes = wideLanes;
    this.codeBits = codeBits;
    this.scalar = scalar;
  }

  @Override
  public void prepare(CodedRow row, float[] x, int at, int columns) {
    row.code(x, at, columns);
    Spread.over(wideLanes, row, columns, codeBits);
  }

  @Override
  public void product(
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

  /** Plain Java is as fast: each value is read once. */
  @Override
  public void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    scalar.expand(matrix, firstRow, count, out, outAt);
  }
}
