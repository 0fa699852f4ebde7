package dev.kvasir.natives;

import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScaleForm;
import dev.kvasir.kernel.StoredBlocks;
import dev.kvasir.kernel.TileRoom;
import java.lang.foreign.MemorySegment;

/**
 * Products with coded weights by dot products of four bytes, and by AMX for every sixteen rows
 * where it is there.
 */
final class NativeCoded implements CodedKernels {
  /** Products of bytes in a call at the most, some 40 microseconds of them. */
  private static final long MOST_PRODUCTS = 2 << 20;

  /**
   * Bytes of weights in a call at the most, some 40 microseconds of reading memory; a processor's
   * own cache has them still when further rows meet them.
   */
  private static final long MOST_BYTES = 512 << 10;

  /** Bytes that a call lays down at the most: they may have to be read from a disk first. */
  private static final long MOST_LAID = 128 << 10;

  private static final int TILE_ROWS = CodedMatrix.TILE_ROWS;

  /** Of three functions, so that a start has less to link. */
  private static final Class<?>[] ROWS_TO_SEGMENTS = {
    float[].class,
    MemorySegment.class,
    MemorySegment.class,
    MemorySegment.class,
    MemorySegment.class,
    int.class,
    int.class,
    int.class
  };

  private static final Call CODE_ROWS = Calls.code("code_rows", ROWS_TO_SEGMENTS);
  private static final Call LAY_BYTES = Calls.floats("lay_bytes", ROWS_TO_SEGMENTS);
  private static final Call LAY_NIBBLES = Calls.floats("lay_nibbles", ROWS_TO_SEGMENTS);

  private static final Call PRODUCTS =
      Calls.code(
          "coded_products",
          float[].class,
          MemorySegment.class,
          MemorySegment.class,
          MemorySegment.class,
          int.class,
          int.class,
          int.class,
          int.class,
          int.class,
          int.class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class,
          MemorySegment.class,
          MemorySegment.class,
          MemorySegment.class,
          int.class,
          int.class);

  private final CodedKernels scalar;

  NativeCoded(CodedKernels scalar) {
    this.scalar = scalar;
  }

  @Override
  public boolean lay(
      StoredBlocks kind, MemorySegment blocks, CodedMatrix matrix, int firstTile, int endTile) {
    kind.requireFit(blocks, matrix);
    Bounds.check(matrix.tiles(), firstTile, endTile - firstTile);
    int together = Math.clamp(MOST_LAID / matrix.codesOffset(1), 1, endTile + 1);
    float[] largest = new float[1];
    for (int tile = firstTile; tile < endTile && Float.isFinite(largest[0]); tile += together) {
      int end = Math.min(Math.min(tile + together, endTile) * TILE_ROWS, matrix.rows());
      layRows(kind, blocks, matrix, tile * TILE_ROWS, end, largest);
    }
    return Float.isFinite(largest[0]);
  }

  private static void layRows(
      StoredBlocks kind,
      MemorySegment blocks,
      CodedMatrix matrix,
      int firstRow,
      int endRow,
      float[] largest) {
    Call call = kind == StoredBlocks.BYTES ? LAY_BYTES : LAY_NIBBLES;
    try {
      call.handle.invokeExact(
          largest,
          blocks,
          matrix.codes(),
          matrix.scales(),
          MemorySegment.NULL,
          matrix.columns(),
          firstRow,
          endRow);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void prepare(CodedRows rows, float[] x, int first, int end) {
    Bounds.check(x.length, rows.columns() * end);
    CodedRows.Views views = rows.views();
    try {
      CODE_ROWS.handle.invokeExact(
          x,
          views.codes(),
          views.scales(),
          views.codeSums(),
          views.sums(),
          rows.columns(),
          first,
          end);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void products(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      RowBlock out,
      TileRoom room) {
    if (matrix.columns() != rows.columns()) {
      throw new IllegalArgumentException(
          "a matrix of %d columns; expected %d".formatted(matrix.columns(), rows.columns()));
    }
    matrix.requireOutputs(firstRow, out);
    Bounds.check(rows.rows(), firstRow, out.rows());
    Bounds.check(out);
    Bounds.check(matrix.tiles(), endTile);
    int endRow = firstRow + out.rows();
    int middle = firstRow + NativeTiles.rowsOf(matrix, out.rows());
    int together = Math.clamp(MOST_BYTES / matrix.codesOffset(1), 1, endTile + 1);
    for (int tile = firstTile; tile < endTile; tile += together) {
      int end = Math.min(tile + together, endTile);
      if (firstRow < middle) {
        NativeTiles.products(matrix, tile, end, rows, firstRow, out, room);
      }
      if (middle < endRow) {
        vectorProducts(matrix, tile, end, rows, middle, endRow, out.values());
      }
    }
  }

  private static void vectorProducts(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      int endRow,
      float[] out) {
    long tileProducts = (long) CodedMatrix.TILE_ROWS * matrix.columns();
    int allRows = endRow - firstRow;
    int rowsTogether = Math.clamp(MOST_PRODUCTS / tileProducts, 8, allRows + 8);
    long tiles = MOST_PRODUCTS / (tileProducts * Math.min(rowsTogether, allRows));
    int tilesTogether = Math.clamp(tiles, 1, endTile + 1);
    for (int tile = firstTile; tile < endTile; tile += tilesTogether) {
      int end = Math.min(tile + tilesTogether, endTile);
      for (int row = firstRow; row < endRow; row += rowsTogether) {
        int count = Math.min(rowsTogether, endRow - row);
        call(matrix, tile, end, rows, row, count, out);
      }
    }
  }

  private static void call(
      CodedMatrix matrix, int tile, int end, CodedRows rows, int row, int count, float[] out) {
    CodedRows.Views views = rows.views();
    ScaleForm form = matrix.scaleForm();
    MemorySegment minimums = form.storesMinimums() ? matrix.minimums() : MemorySegment.NULL;
    try {
      PRODUCTS.handle.invokeExact(
          out,
          matrix.codes(),
          matrix.scales(),
          minimums,
          form.storesMinimums() ? 1 : 0,
          form.numbers().ordinal(),
          form.minimumFactor(),
          matrix.codeBits(),
          matrix.groupLength(),
          matrix.columns(),
          matrix.rows(),
          tile,
          end,
          views.codes(),
          views.scales(),
          views.codeSums(),
          views.sums(),
          row,
          count);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    scalar.expand(matrix, firstRow, count, out, outAt);
  }
}
