package dev.kvasir.attention;

import dev.kvasir.cache.DenseRows;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.HalfQueries;
import dev.kvasir.kernel.Kernels;

/**
 * Attends on tokens that are not packed. A few query rows compute on 16-bit floats where they lie;
 * many share what they are expanded to, and 32-bit floats are expanded for all.
 */
final class DenseReader {
  private static final int PAGE = PageWalk.PAGE;

  private final Kernels kernels;
  private final int headDim;
  private final HalfQueries prepared;
  private final float[] vectors; // (PAGE, headDim), keys or values
  private HalfKernels preparing; // null until there were queries to prepare
  private boolean isPrepared;

  DenseReader(Kernels kernels, int headDim) {
    this.kernels = kernels;
    this.headDim = headDim;
    this.prepared = new HalfQueries(PageReader.MOST_ROWS, headDim);
    this.vectors = new float[PAGE * headDim];
  }

  /** A walk begins: queries are other ones. */
  void begin() {
    isPrepared = false;
  }

  private static boolean isComputedOn(DenseRows dense, boolean few) {
    return few && dense.matrix().precision() != Precision.F32;
  }

  /**
   * Scores of the first {@code tokens} tokens.
   *
   * @param few whether rows compute on what is stored
   * @param queries (rows, headDim)
   * @param scores (rows, PAGE), set
   */
  void score(
      DenseRows dense,
      int kvHead,
      int tokens,
      boolean few,
      float[] queries,
      int rows,
      float[] scores) {
    int first = dense.firstKey(kvHead);
    if (!isComputedOn(dense, few)) {
      kernels.expand(dense.matrix(), first, tokens, vectors, 0);
      kernels
          .floats()
          .products(
              queries, 0, headDim, rows, vectors, 0, headDim, tokens, headDim, scores, 0, PAGE);
      return;
    }
    if (!isPrepared) {
      preparing = kernels.halves();
      preparing.prepare(prepared, queries, 0, rows, headDim, dense.matrix().precision());
      isPrepared = true;
    }
    preparing.products(prepared, dense.matrix(), first, tokens, scores, 0, PAGE);
  }

  /**
   * Adds the weighted values of the first {@code tokens} tokens.
   *
   * @param few whether rows compute on what is stored
   * @param weights (rows, PAGE)
   * @param mixed (rows, headDim), added to
   */
  void mix(
      DenseRows dense,
      int kvHead,
      int tokens,
      boolean few,
      float[] weights,
      int rows,
      float[] mixed) {
    int first = dense.firstValue(kvHead);
    if (isComputedOn(dense, few)) {
      kernels
          .halves()
          .weightedSums(weights, 0, PAGE, rows, dense.matrix(), first, tokens, mixed, 0, headDim);
      return;
    }
    kernels.expand(dense.matrix(), first, tokens, vectors, 0);
    kernels
        .floats()
        .weightedSums(
            weights, 0, PAGE, rows, vectors, 0, headDim, tokens, headDim, mixed, 0, headDim);
  }
}
