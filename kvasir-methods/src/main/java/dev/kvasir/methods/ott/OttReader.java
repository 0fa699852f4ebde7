package dev.kvasir.methods.ott;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.UniformReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;

/**
 * Computes attention on codes and outlier tokens, for a few query rows that share a KV head. Exact
 * scores of outliers replace those of their codes. Exact values are added, since the codes of
 * outliers are zero.
 */
final class OttReader implements PageReader {
  static final PageReaders.Kind<OttReader> KIND = new PageReaders.Kind<>(OttReader::new);

  private static final int TOKENS = Page.TOKENS;

  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private final UniformReader codes;
  private final float[] products; // (rows, outliers), or their weights
  private float[] vectors = {}; // (outliers, keyDim or valueDim)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  private OttReader(PageReaders readers) {
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.codes = readers.of(UniformReader.KIND);
    this.products = new float[PageReader.MAX_ROWS * TOKENS];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    OttPage ottPage = (OttPage) page;
    OutlierTokens outliers = ottPage.outliers();
    codes.score(ottPage.codes(), kvHead, queries, rows, scores);
    int count = outliers.layout().outliers();
    expand(outliers, outliers.layout().keysOffset(kvHead), count * keyDim);
    kernels
        .floats()
        .products(
            inputRows.set(queries, rows, keyDim),
            vectorRows.set(vectors, count, keyDim),
            outputRows.set(products, rows, count));
    for (int i = 0; i < count; i++) {
      int index = outliers.index(kvHead, i);
      for (int row = 0; row < rows; row++) {
        scores[row * TOKENS + index] = products[row * count + i];
      }
    }
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    OttPage ottPage = (OttPage) page;
    OutlierTokens outliers = ottPage.outliers();
    codes.accumulate(ottPage.codes(), kvHead, weights, rows, accumulator);
    int count = outliers.layout().outliers();
    for (int i = 0; i < count; i++) {
      int index = outliers.index(kvHead, i);
      for (int row = 0; row < rows; row++) {
        products[row * count + i] = weights[row * TOKENS + index];
      }
    }
    expand(outliers, outliers.layout().valuesOffset(kvHead), count * valueDim);
    kernels
        .floats()
        .weightedSums(
            inputRows.set(products, rows, count),
            vectorRows.set(vectors, count, valueDim),
            outputRows.set(accumulator, rows, valueDim));
  }

  private void expand(OutlierTokens outliers, long offset, int count) {
    if (vectors.length < count) {
      vectors = new float[outliers.layout().outliers() * Math.max(keyDim, valueDim)];
    }
    kernels.halves().expand(outliers.bytes(), offset, vectors, 0, count);
  }
}
