package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.codec.uniform.UniformReader;

/**
 * Attends to pages whose keys were divided by factors, for a few query rows that share a KV head.
 * Queries are multiplied by the factors once per pass, which stays within a layer and head.
 */
final class PmkvqReader implements PageReader {
  static final PageReaders.Kind<PmkvqReader> KIND = new PageReaders.Kind<>(PmkvqReader::new);

  private final int keyDim;
  private final UniformReader uniform;
  private final float[] smoothed; // (rows, keyDim)
  private boolean isSmoothed;

  private PmkvqReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.uniform = readers.of(UniformReader.KIND);
    this.smoothed = new float[PageReader.MAX_ROWS * keyDim];
  }

  @Override
  public void beginPass() {
    isSmoothed = false;
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    PmkvqPage divided = (PmkvqPage) page;
    float[] x = queries;
    if (divided.smoothing().isPresent()) {
      x = smooth(divided.smoothing().get(), kvHead, queries, rows);
    }
    uniform.score(divided.codes(), kvHead, x, rows, scores);
  }

  private float[] smooth(SmoothingFactors factors, int kvHead, float[] queries, int rows) {
    if (!isSmoothed) {
      System.arraycopy(queries, 0, smoothed, 0, rows * keyDim);
      factors.transformQueries(kvHead, smoothed, 0, rows);
      isSmoothed = true;
    }
    return smoothed;
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] probabilities, int rows, float[] out) {
    uniform.accumulate(((PmkvqPage) page).codes(), kvHead, probabilities, rows, out);
  }
}
