package dev.kvasir.natives;

import dev.kvasir.kernel.GemmKernels;
import dev.kvasir.kernel.GgmlBlocks;
import dev.kvasir.kernel.QuantizedActivations;
import dev.kvasir.kernel.QuantizedWeights;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScaleFormat;
import dev.kvasir.kernel.TileWorkspace;
import dev.kvasir.kernel.WeightCodes;
import java.lang.foreign.MemorySegment;

/**
 * GEMM with quantized weights by four-byte dot products, and by AMX for every sixteen rows where
 * available.
 */
final class NativeGemm implements GemmKernels {
  /** Maximum byte products per call, about 40 microseconds of work. */
  private static final long MAX_PRODUCTS = 2 << 20;

  /**
   * Maximum bytes of weights per call, about 40 microseconds of memory reads; they stay in the
   * core's own cache for further rows.
   */
  private static final long MAX_BYTES = 512 << 10;

  /** Maximum bytes repacked per call: the source may have to be read from disk first. */
  private static final long MAX_REPACKED_BYTES = 128 << 10;

  private static final int TILE_ROWS = QuantizedWeights.TILE_ROWS;

  /** Shared by three functions, to reduce linking at startup. */
  private static final String ROWS_TO_SEGMENTS = "[F MMMMIII";

  private static final NativeFunction QUANTIZE_ROWS =
      NativeFunctions.integerFunction("code_rows", ROWS_TO_SEGMENTS);
  private static final NativeFunction REPACK_Q8_0 =
      NativeFunctions.floatFunction("lay_bytes", ROWS_TO_SEGMENTS);
  private static final NativeFunction REPACK_Q4_0 =
      NativeFunctions.floatFunction("lay_nibbles", ROWS_TO_SEGMENTS);

  private static final NativeFunction PRODUCTS =
      NativeFunctions.integerFunction("coded_products", "[F MMMMIIIIIIIIIII MMMMII");

  private final GemmKernels scalar;

  NativeGemm(GemmKernels scalar) {
    this.scalar = scalar;
  }

  @Override
  public boolean repack(
      GgmlBlocks kind, MemorySegment blocks, QuantizedWeights matrix, int firstTile, int endTile) {
    kind.requireFit(blocks, matrix);
    Bounds.check(matrix.tiles(), firstTile, endTile - firstTile);
    int tilesAtOnce = Math.clamp(MAX_REPACKED_BYTES / matrix.codesOffset(1), 1, endTile + 1);
    float[] largest = new float[1];
    for (int tile = firstTile; tile < endTile && Float.isFinite(largest[0]); tile += tilesAtOnce) {
      int end = Math.min(Math.min(tile + tilesAtOnce, endTile) * TILE_ROWS, matrix.rows());
      repackRows(kind, blocks, matrix, tile * TILE_ROWS, end, largest);
    }
    return Float.isFinite(largest[0]);
  }

  private static void repackRows(
      GgmlBlocks kind,
      MemorySegment blocks,
      QuantizedWeights matrix,
      int firstRow,
      int endRow,
      float[] largest) {
    NativeFunction function = kind == GgmlBlocks.Q8_0 ? REPACK_Q8_0 : REPACK_Q4_0;
    try {
      function.handle.invokeExact(
          largest,
          blocks,
          matrix.codes(),
          matrix.scales(),
          MemorySegment.NULL,
          matrix.columns(),
          firstRow,
          endRow);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void quantize(QuantizedActivations activations, float[] x, int first, int end) {
    Bounds.check(x.length, activations.columns() * end);
    QuantizedActivations.Views views = activations.views();
    try {
      QUANTIZE_ROWS.handle.invokeExact(
          x,
          views.codes(),
          views.scales(),
          views.codeSums(),
          views.sums(),
          activations.columns(),
          first,
          end);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void products(
      QuantizedWeights matrix,
      int firstTile,
      int endTile,
      QuantizedActivations activations,
      int firstRow,
      RowBlock out,
      TileWorkspace workspace) {
    if (matrix.columns() != activations.columns()) {
      throw new IllegalArgumentException(
          "a matrix of %d columns; expected %d".formatted(matrix.columns(), activations.columns()));
    }
    if (!hasProducts(matrix)) {
      scalar.products(matrix, firstTile, endTile, activations, firstRow, out, workspace);
      return;
    }
    matrix.requireOutputs(firstRow, out);
    Bounds.check(activations.rows(), firstRow, out.rows());
    Bounds.check(out);
    Bounds.check(matrix.tiles(), endTile);
    int endRow = firstRow + out.rows();
    int middle = firstRow + AmxGemm.amxRows(matrix, out.rows());
    int tilesAtOnce = Math.clamp(MAX_BYTES / matrix.codesOffset(1), 1, endTile + 1);
    for (int tile = firstTile; tile < endTile; tile += tilesAtOnce) {
      int end = Math.min(tile + tilesAtOnce, endTile);
      if (firstRow < middle) {
        AmxGemm.products(matrix, tile, end, activations, firstRow, out, workspace);
      }
      if (middle < endRow) {
        vectorProducts(matrix, tile, end, activations, middle, endRow, out.values());
      }
    }
  }

  /** Returns whether the library multiplies such weights; all GGUF types have such. */
  private static boolean hasProducts(QuantizedWeights matrix) {
    ScaleFormat.ScaleEncoding encoding = matrix.scaleFormat().encoding();
    WeightCodes coding = matrix.coding();
    if (coding.areLevels()) {
      return matrix.groupLength() == 32 || encoding == ScaleFormat.ScaleEncoding.FLOATS;
    }
    return switch (coding.bits()) {
      case 4 -> true;
      case 5 -> encoding != ScaleFormat.ScaleEncoding.FLOATS;
      case 6 -> encoding == ScaleFormat.ScaleEncoding.PRODUCTS;
      default -> matrix.groupLength() == 32 && encoding != ScaleFormat.ScaleEncoding.PRODUCTS;
    };
  }

  private static void vectorProducts(
      QuantizedWeights matrix,
      int firstTile,
      int endTile,
      QuantizedActivations activations,
      int firstRow,
      int endRow,
      float[] out) {
    long tileProducts = (long) QuantizedWeights.TILE_ROWS * matrix.columns();
    int allRows = endRow - firstRow;
    int rowsPerCall = Math.clamp(MAX_PRODUCTS / tileProducts, 8, allRows + 8);
    long tiles = MAX_PRODUCTS / (tileProducts * Math.min(rowsPerCall, allRows));
    int tilesPerCall = Math.clamp(tiles, 1, endTile + 1);
    for (int tile = firstTile; tile < endTile; tile += tilesPerCall) {
      int end = Math.min(tile + tilesPerCall, endTile);
      for (int row = firstRow; row < endRow; row += rowsPerCall) {
        int count = Math.min(rowsPerCall, endRow - row);
        call(matrix, tile, end, activations, row, count, out);
      }
    }
  }

  private static void call(
      QuantizedWeights matrix,
      int tile,
      int end,
      QuantizedActivations activations,
      int row,
      int count,
      float[] out) {
    QuantizedActivations.Views views = activations.views();
    ScaleFormat format = matrix.scaleFormat();
    WeightCodes coding = matrix.coding();
    MemorySegment minimums = format.storesMinimums() ? matrix.minimums() : MemorySegment.NULL;
    try {
      PRODUCTS.handle.invokeExact(
          out,
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
          row,
          count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void dequantize(QuantizedWeights matrix, int firstRow, int count, float[] out, int outAt) {
    scalar.dequantize(matrix, firstRow, count, out, outAt);
  }
}
