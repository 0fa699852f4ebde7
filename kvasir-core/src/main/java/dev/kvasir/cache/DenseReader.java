package dev.kvasir.cache;

import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.TileWorkspace;
import java.util.Arrays;

/**
 * Attends to dense tokens. Query rows compute directly on 16-bit floats. Where pages are expanded,
 * rows share the expanded vectors; 32-bit floats are always expanded.
 */
final class DenseReader {
  private static final int PAGE = KvCache.TOKENS_PER_PAGE;

  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private final TileWorkspace tiles = new TileWorkspace();
  private final float[] vectors; // (PAGE, keyDim) or (PAGE, valueDim)
  private float[] wide = {}; // (PREFILL_ROWS, keyDim), where values are the first channels of keys
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  DenseReader(Kernels kernels, int keyDim, int valueDim) {
    this.kernels = kernels;
    this.keyDim = keyDim;
    this.valueDim = valueDim;
    this.vectors = new float[PAGE * Math.max(keyDim, valueDim)];
  }

  private static boolean computesOnStored(DenseRows dense, boolean stored) {
    return stored && dense.keys().precision() != Precision.F32;
  }

  /**
   * Computes the scores of {@code tokens} tokens.
   *
   * @param first row of the first token
   * @param stored whether query rows compute on the stored representation
   * @param queries (rows, keyDim)
   * @param scores (rows, PAGE), set from the start of each row
   */
  void score(
      DenseRows dense,
      int first,
      int tokens,
      boolean stored,
      float[] queries,
      int rows,
      float[] scores) {
    if (!computesOnStored(dense, stored)) {
      kernels.expand(dense.keys(), first, tokens, vectors, 0);
      kernels
          .floats()
          .products(
              inputRows.set(queries, rows, keyDim),
              vectorRows.set(vectors, tokens, keyDim),
              outputRows.set(scores, 0, PAGE, rows, tokens));
      return;
    }
    kernels
        .halves()
        .products(
            queries, dense.keys(), first, outputRows.set(scores, 0, PAGE, rows, tokens), tiles);
  }

  /**
   * Adds the weighted values of {@code tokens} tokens.
   *
   * @param first row of the first token
   * @param stored whether query rows compute on the stored representation
   * @param weights (rows, PAGE)
   * @param accumulator (rows, valueDim), added to
   */
  void accumulate(
      DenseRows dense,
      int first,
      int tokens,
      boolean stored,
      float[] weights,
      int rows,
      float[] accumulator) {
    int columns = dense.values().columns();
    if (computesOnStored(dense, stored) && columns > valueDim) {
      accumulateWide(dense, first, tokens, weights, rows, accumulator);
      return;
    }
    if (computesOnStored(dense, stored)) {
      kernels
          .halves()
          .weightedSums(
              inputRows.set(weights, 0, PAGE, rows, tokens),
              dense.values(),
              first,
              outputRows.set(accumulator, rows, valueDim));
      return;
    }
    kernels.expand(dense.values(), first, tokens, vectors, 0);
    kernels
        .floats()
        .weightedSums(
            inputRows.set(weights, 0, PAGE, rows, tokens),
            vectorRows.set(vectors, 0, columns, tokens, valueDim),
            outputRows.set(accumulator, rows, valueDim));
  }

  /**
   * Accumulates all channels of keys and drops those that are no values; channels are independent.
   */
  private void accumulateWide(
      DenseRows dense, int first, int tokens, float[] weights, int rows, float[] accumulator) {
    if (wide.length == 0) {
      wide = new float[PageReader.PREFILL_ROWS * keyDim];
    }
    for (int row = 0; row < rows; row++) {
      System.arraycopy(accumulator, row * valueDim, wide, row * keyDim, valueDim);
      Arrays.fill(wide, row * keyDim + valueDim, (row + 1) * keyDim, 0);
    }
    kernels
        .halves()
        .weightedSums(
            inputRows.set(weights, 0, PAGE, rows, tokens),
            dense.values(),
            first,
            outputRows.set(wide, rows, keyDim));
    for (int row = 0; row < rows; row++) {
      System.arraycopy(wide, row * keyDim, accumulator, row * valueDim, valueDim);
    }
  }
}
