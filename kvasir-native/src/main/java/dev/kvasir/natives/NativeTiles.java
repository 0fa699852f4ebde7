package dev.kvasir.natives;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScaleForm;
import dev.kvasir.kernel.TileRoom;
import java.lang.foreign.MemorySegment;

/** Products with coded weights by AMX, sixteen rows of activations at a time. */
final class NativeTiles {
  /** Rows of activations that fill a register. */
  private static final int ROWS = 16;

  /** Products of bytes in a call at the most, some 40 microseconds of them. */
  private static final long MOST_PRODUCTS = 8 << 20;

  private static final Call PRODUCTS =
      Calls.tiles(
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
          int.class,
          MemorySegment.class,
          int.class);

  private NativeTiles() {}

  /**
   * How many rows, from the first on, are better multiplied here: none of nibbles with a scale for
   * 16 columns, where adding up takes longer than vectors take for everything.
   */
  static int rowsOf(CodedMatrix matrix, int rows) {
    boolean faster = matrix.codeBits() == 8 || matrix.groupLength() == 32;
    return PRODUCTS != null && faster ? rows / ROWS * ROWS : 0;
  }

  /**
   * Some tiles of a matrix with the first of the rows, {@link #rowsOf} them. Bounds are checked by
   * the caller.
   */
  static void products(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      RowBlock out,
      TileRoom room) {
    int count = rowsOf(matrix, out.rows());
    long callProducts = (long) tileProducts(matrix) * rowsTogether(matrix, count);
    int tilesTogether = Math.clamp(MOST_PRODUCTS / callProducts, 1, endTile);
    for (int tile = firstTile; tile < endTile; tile += tilesTogether) {
      int end = Math.min(tile + tilesTogether, endTile);
      multiplyTiles(matrix, tile, end, rows, firstRow, out, room);
    }
  }

  private static int tileProducts(CodedMatrix matrix) {
    return CodedMatrix.TILE_ROWS * matrix.columns();
  }

  /** Rows of a call. */
  private static int rowsTogether(CodedMatrix matrix, int count) {
    return Math.clamp(MOST_PRODUCTS / tileProducts(matrix) / ROWS * ROWS, ROWS, count);
  }

  /** Where rows take several calls, a call takes one tile, and the first has expanded it. */
  private static void multiplyTiles(
      CodedMatrix matrix,
      int tile,
      int end,
      CodedRows rows,
      int firstRow,
      RowBlock out,
      TileRoom room) {
    CodedRows.Views views = rows.views();
    ScaleForm form = matrix.scaleForm();
    MemorySegment minimums = form.storesMinimums() ? matrix.minimums() : MemorySegment.NULL;
    MemorySegment bytes =
        matrix.codeBits() == 4 ? room.bytes(tileProducts(matrix)) : MemorySegment.NULL;
    int count = rowsOf(matrix, out.rows());
    int together = rowsTogether(matrix, count);
    for (int row = 0; row < count; row += together) {
      try {
        PRODUCTS.handle.invokeExact(
            out.values(),
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
            firstRow + row,
            Math.min(together, count - row),
            bytes,
            row > 0 ? 1 : 0);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }
}
