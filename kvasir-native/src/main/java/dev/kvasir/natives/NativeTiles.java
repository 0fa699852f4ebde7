package dev.kvasir.natives;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
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

  /** Some tiles of a matrix with a multiple of sixteen rows. Bounds are checked by the caller. */
  static void products(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      int endRow,
      float[] out,
      TileRoom room) {
    int tileProducts = CodedMatrix.TILE_ROWS * matrix.columns();
    int rowsTogether =
        Math.clamp(MOST_PRODUCTS / tileProducts / ROWS * ROWS, ROWS, endRow - firstRow);
    int tilesTogether =
        Math.clamp(MOST_PRODUCTS / ((long) tileProducts * rowsTogether), 1, endTile);
    MemorySegment bytes =
        matrix.codeBits() == 4
            ? MemorySegment.ofArray(room.bytes(tileProducts))
            : MemorySegment.NULL;
    for (int tile = firstTile; tile < endTile; tile += tilesTogether) {
      int end = Math.min(tile + tilesTogether, endTile);
      for (int row = firstRow; row < endRow; row += rowsTogether) {
        int count = Math.min(rowsTogether, endRow - row);
        // Where rows take several calls, a call takes one tile, and the first has expanded it.
        call(matrix, tile, end, rows, row, count, out, bytes, row > firstRow);
      }
    }
  }

  private static void call(
      CodedMatrix matrix,
      int tile,
      int end,
      CodedRows rows,
      int row,
      int count,
      float[] out,
      MemorySegment bytes,
      boolean expanded) {
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
          count,
          bytes,
          expanded ? 1 : 0);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
