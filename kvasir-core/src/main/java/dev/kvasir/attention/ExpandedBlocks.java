package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Kernels;

/**
 * Blocks of any kind, expanded to floats: what many query rows share, so that the expansion is
 * cheap beside the products.
 */
final class ExpandedBlocks implements BlockReader {
  private static final int PAGE = PageWalk.PAGE;

  private final Kernels kernels;
  private final int headDim;
  private final float[] vectors; // (PAGE, headDim), keys or values

  ExpandedBlocks(Kernels kernels, int headDim) {
    this.kernels = kernels;
    this.headDim = headDim;
    this.vectors = new float[PAGE * headDim];
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
    cache.expandKeys(kernels, layer, kvHead, block, tokens, vectors);
    kernels.products(
        queries, 0, headDim, rows, vectors, 0, headDim, tokens, headDim, scores, 0, PAGE);
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
    cache.expandValues(kernels, layer, kvHead, block, tokens, vectors);
    kernels.weightedSums(
        weights, 0, PAGE, rows, vectors, 0, headDim, tokens, headDim, mixed, 0, headDim);
  }
}
