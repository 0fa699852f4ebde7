package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.Lookups;
import dev.kvasir.codec.progressive.ProgressivePage;
import dev.kvasir.codec.progressive.Smoothing;

/**
 * Attention on pages whose keys are divided by factors, for a few query rows that share a KV head:
 * queries are multiplied by the factors once in a walk, which stays within a layer and head.
 */
final class ProgressiveLookups implements BlockReader {
  private final int headDim;
  private final UniformLookups uniform;
  private final float[] smoothed; // (rows, headDim)
  private boolean isSmoothed;

  ProgressiveLookups(int headDim, UniformLookups uniform) {
    this.headDim = headDim;
    this.uniform = uniform;
    this.smoothed = new float[PageWalk.FEW_ROWS * headDim];
  }

  @Override
  public void begin() {
    isSmoothed = false;
  }

  @Override
  public boolean readsWholeBlocks() {
    return true;
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
    ProgressivePage page = (ProgressivePage) cache.page(layer, block);
    boolean exact = cache.lookups() == Lookups.EXACT;
    float[] x = queries;
    if (page.smoothing().isPresent()) {
      x = smooth(page.smoothing().get(), kvHead, queries, rows);
    }
    uniform.score(page.codes(), kvHead, exact, x, rows, scores);
  }

  private float[] smooth(Smoothing factors, int kvHead, float[] queries, int rows) {
    if (!isSmoothed) {
      System.arraycopy(queries, 0, smoothed, 0, rows * headDim);
      factors.multiply(kvHead, smoothed, rows);
      isSmoothed = true;
    }
    return smoothed;
  }

  @Override
  public void mix(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] probabilities,
      int rows,
      float[] out) {
    ProgressivePage page = (ProgressivePage) cache.page(layer, block);
    boolean exact = cache.lookups() == Lookups.EXACT;
    uniform.mix(page.codes(), kvHead, exact, probabilities, rows, out);
  }
}
