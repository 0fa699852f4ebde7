package dev.kvasir.simd;

import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.CodedLayout;
import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import dev.kvasir.kernel.TileRoom;

/** Products with weights of one width on the Vector API. */
final class VectorCoded implements CodedKernels {
  private static final int TILE_ROWS = CodedMatrix.TILE_ROWS;

  /**
   * Rows up to which codes are multiplied as they lie. Making floats of a tile costs about as much
   * as ten such products with it.
   */
  private static final int MOST_FEW = 8;

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
  public CodedLayout layout() {
    return CodedLayout.LANES;
  }

  @Override
  public void begin(CodedRows rows, int count, int columns) {
    rows.begin(count, columns);
    if (isFew(rows)) {
      rows.makeSpread(codeBits);
    } else {
      rows.makeFloats();
    }
  }

  private static boolean isFew(CodedRows rows) {
    return rows.rows() <= MOST_FEW;
  }

  @Override
  public void prepare(CodedRows rows, float[] x, int first, int end) {
    for (int row = first; row < end; row++) {
      rows.code(row, x, row * rows.columns());
      if (isFew(rows)) {
        Spread.over(wideLanes, rows, row, codeBits, rows.spread(codeBits), rows.spreadAt(row));
      } else {
        ManyProducts.prepare(rows, row);
      }
    }
  }

  @Override
  public void products(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      int endRow,
      float[] out,
      TileRoom room) {
    if (isFew(rows)) {
      short[] spread = rows.spread(codeBits);
      int at = rows.spreadAt(firstRow);
      fewProducts(matrix, firstTile, endTile, rows, firstRow, endRow, spread, at, out, room);
    } else if (endRow - firstRow <= MOST_FEW) {
      short[] spread = spreadAmongMany(rows, firstRow, endRow, room);
      fewProducts(matrix, firstTile, endTile, rows, firstRow, endRow, spread, 0, out, room);
    } else {
      for (int tile = firstTile; tile < endTile; tile++) {
        ManyProducts.multiply(matrix, tile, rows, firstRow, endRow, out, room);
      }
    }
  }

  /** Few of many rows are spread where they are multiplied: together they would take a lot. */
  private short[] spreadAmongMany(CodedRows rows, int firstRow, int endRow, TileRoom room) {
    short[] spread = room.spread(rows.spreadAt(endRow - firstRow));
    for (int row = firstRow; row < endRow; row++) {
      Spread.over(wideLanes, rows, row, codeBits, spread, rows.spreadAt(row - firstRow));
    }
    return spread;
  }

  private void fewProducts(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      int endRow,
      short[] spread,
      int spreadAt,
      float[] out,
      TileRoom room) {
    float[] partial = room.sums(TILE_ROWS);
    for (int tile = firstTile; tile < endTile; tile++) {
      int first = tile * TILE_ROWS;
      int count = Math.min(TILE_ROWS, matrix.rows() - first);
      for (int row = firstRow; row < endRow; row++) {
        int from = spreadAt + rows.spreadAt(row - firstRow);
        int at = row * matrix.rows() + first;
        if (count == TILE_ROWS) {
          tileProduct(matrix, tile, rows, row, spread, from, out, at);
        } else {
          tileProduct(matrix, tile, rows, row, spread, from, partial, 0);
          System.arraycopy(partial, 0, out, at, count);
        }
      }
    }
  }

  private void tileProduct(
      CodedMatrix matrix,
      int tile,
      CodedRows rows,
      int row,
      short[] spread,
      int spreadAt,
      float[] out,
      int at) {
    if (wideLanes) {
      CodedTiles256.multiply(matrix, tile, rows, row, spread, spreadAt, out, at);
    } else {
      CodedTiles128.multiply(matrix, tile, rows, row, spread, spreadAt, out, at);
    }
    Spread.sortRows(out, at);
  }

  /** Plain Java is as fast: each value is read once. */
  @Override
  public void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    scalar.expand(matrix, firstRow, count, out, outAt);
  }
}
