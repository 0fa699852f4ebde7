package dev.kvasir.natives;

import dev.kvasir.kernel.QuantizedActivations;
import dev.kvasir.kernel.QuantizedWeights;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScaleFormat;
import dev.kvasir.kernel.TileWorkspace;
import dev.kvasir.kernel.WeightCodes;
import java.lang.foreign.MemorySegment;

/** GEMM with quantized weights by AMX, sixteen rows of activations at a time. */
final class AmxGemm {
  /** Rows of activations that fill a tile register. */
  private static final int ROWS = 16;

  /** Maximum byte products per call, about 40 microseconds of work. */
  private static final long MAX_PRODUCTS = 8 << 20;

  private static final NativeFunction PRODUCTS =
      NativeFunctions.amxFunction("coded_products", "[F MMMMIIIIIIIIIII MMMMII MI");

  private AmxGemm() {}

  /**
   * Returns how many rows, from the first on, are faster with AMX. It is none for nibbles with a
   * scale per 16 columns, where accumulation alone takes longer than the vector kernel.
   */
  static int amxRows(QuantizedWeights matrix, int rows) {
    boolean faster = matrix.coding() != WeightCodes.NIBBLES || matrix.groupLength() == 32;
    return PRODUCTS != null && faster ? rows / ROWS * ROWS : 0;
  }

  /**
   * Multiplies some tiles of a matrix with the first {@link #amxRows} rows. The caller checks
   * bounds.
   */
  static void products(
      QuantizedWeights matrix,
      int firstTile,
      int endTile,
      QuantizedActivations activations,
      int firstRow,
      RowBlock out,
      TileWorkspace workspace) {
    int count = amxRows(matrix, out.rows());
    long callProducts = (long) tileProducts(matrix) * rowsPerCall(matrix, count);
    int tilesPerCall = Math.clamp(MAX_PRODUCTS / callProducts, 1, endTile);
    for (int tile = firstTile; tile < endTile; tile += tilesPerCall) {
      int end = Math.min(tile + tilesPerCall, endTile);
      multiplyTiles(matrix, tile, end, activations, firstRow, out, workspace);
    }
  }

  private static int tileProducts(QuantizedWeights matrix) {
    return QuantizedWeights.TILE_ROWS * matrix.columns();
  }

  private static int rowsPerCall(QuantizedWeights matrix, int count) {
    return Math.clamp(MAX_PRODUCTS / tileProducts(matrix) / ROWS * ROWS, ROWS, count);
  }

  /**
   * Multiplies some tiles. If the rows take several calls, each call takes one tile, and the first
   * call unpacks it.
   */
  private static void multiplyTiles(
      QuantizedWeights matrix,
      int tile,
      int end,
      QuantizedActivations activations,
      int firstRow,
      RowBlock out,
      TileWorkspace workspace) {
    QuantizedActivations.Views views = activations.views();
    ScaleFormat format = matrix.scaleFormat();
    WeightCodes coding = matrix.coding();
    MemorySegment minimums = format.storesMinimums() ? matrix.minimums() : MemorySegment.NULL;
    MemorySegment bytes =
        coding != WeightCodes.BYTES ? workspace.bytes(tileProducts(matrix)) : MemorySegment.NULL;
    int count = amxRows(matrix, out.rows());
    int rowsPerCall = rowsPerCall(matrix, count);
    for (int row = 0; row < count; row += rowsPerCall) {
      try {
        PRODUCTS.handle.invokeExact(
            out.values(),
            matrix.codes(),
            matrix.scales(),
            minimums,
            coding.nativeLevels(),
            coding.areLevels() ? 1 : 0,
            format.storesMinimums() ? 1 : 0,
            format.encoding().ordinal(),
            format.minimumFactor(),
            coding.bits(),
            coding.lowest(),
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
            Math.min(rowsPerCall, count - row),
            bytes,
            row > 0 ? 1 : 0);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }
}
