package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Kernels that multiply quantized weights with activations in floats instead of bytes: each tile of
 * weights is dequantized first. They take several times as long and serve measurements in which the
 * rounding of activations would hide smaller effects. Everything else is as in other kernels.
 */
public final class FloatActivationKernels implements Kernels {
  private final Kernels base;
  private final GemmKernels gemm;

  public FloatActivationKernels(Kernels base) {
    this.base = base;
    this.gemm = new FloatGemm(base);
  }

  @Override
  public String name() {
    return base.name() + ", float activations";
  }

  @Override
  public GemmKernels gemm() {
    return gemm;
  }

  @Override
  public FloatKernels floats() {
    return base.floats();
  }

  @Override
  public RowKernels rows() {
    return base.rows();
  }

  @Override
  public HalfKernels halves() {
    return base.halves();
  }

  @Override
  public DotKernels dots() {
    return base.dots();
  }

  @Override
  public PatternKernels patterns() {
    return base.patterns();
  }

  @Override
  public CodebookKernels codebooks() {
    return base.codebooks();
  }

  @Override
  public RowCodeKernels rowCodes() {
    return base.rowCodes();
  }

  @Override
  public RecurrenceKernels recurrences() {
    return base.recurrences();
  }

  /** Matrix products in floats. Activations keep their values and have no codes. */
  private record FloatGemm(Kernels base) implements GemmKernels {
    private static final int TILE = QuantizedWeights.TILE_ROWS;

    @Override
    public boolean repack(
        GgmlBlocks kind,
        MemorySegment blocks,
        QuantizedWeights matrix,
        int firstTile,
        int endTile) {
      return base.gemm().repack(kind, blocks, matrix, firstTile, endTile);
    }

    @Override
    public void quantize(QuantizedActivations activations, float[] x, int first, int end) {
      activations.setUnquantized(x);
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
      int columns = matrix.columns();
      RowBlock x = workspace.activationRows();
      x.set(activations.unquantized(), firstRow * columns, columns, out.rows(), columns);
      RowBlock weights = workspace.weightRows();
      RowBlock tileOut = new RowBlock();
      for (int tile = firstTile; tile < endTile; tile++) {
        int at = tile * TILE;
        int height = Math.min(TILE, matrix.rows() - at);
        weights.set(workspace.weights(TILE * columns), height, columns);
        dequantize(matrix, at, height, weights.values(), 0);
        tileOut.set(out.values(), out.at() + at, out.stride(), out.rows(), height);
        base.floats().products(x, weights, tileOut);
      }
    }

    @Override
    public void dequantize(
        QuantizedWeights matrix, int firstRow, int count, float[] out, int outAt) {
      base.gemm().dequantize(matrix, firstRow, count, out, outAt);
    }
  }
}
