package dev.kvasir.attention;

import dev.kvasir.cache.DenseRows;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.HalfQueries;
import dev.kvasir.kernel.Kernels;

/** Blocks of 16-bit floats, computed on where they lie. */
final class HalfBlocks implements BlockReader {
  private static final int PAGE = PageWalk.PAGE;

  private final Kernels kernels;
  private final int headDim;
  private final HalfQueries prepared;
  private boolean isPrepared;

  HalfBlocks(Kernels kernels, int headDim) {
    this.kernels = kernels;
    this.headDim = headDim;
    this.prepared = new HalfQueries(PageWalk.FEW_ROWS, headDim);
  }

  @Override
  public void begin() {
    isPrepared = false;
  }

  @Override
  public void score(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] queries,
      int rows,
      float[] scores) {
    DenseRows dense = cache.denseRows(layer, block);
    int first = dense.firstKey(kvHead);
    if (!isPrepared) {
      kernels.prepare(prepared, queries, 0, rows, headDim, dense.matrix().precision());
      isPrepared = true;
    }
    kernels.halfProducts(prepared, dense.matrix(), first, tokens, scores, 0, PAGE);
  }

  @Override
  public void mix(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] weights,
      int rows,
      float[] mixed) {
    DenseRows dense = cache.denseRows(layer, block);
    int first = dense.firstValue(kvHead);
    kernels.halfSums(weights, 0, PAGE, rows, dense.matrix(), first, tokens, mixed, 0, headDim);
  }
}
