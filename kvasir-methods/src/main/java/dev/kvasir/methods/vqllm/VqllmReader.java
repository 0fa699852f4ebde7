package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;

/** Computes attention on pages of codebook codes, for a few query rows that share a KV head. */
final class VqllmReader implements PageReader {
  static final PageReaders.Kind<VqllmReader> KIND = new PageReaders.Kind<>(VqllmReader::new);

  private final CodebookKeyScorer keys;
  private final BinnedValueAccumulator values;

  private VqllmReader(PageReaders readers) {
    this.keys = new CodebookKeyScorer(readers.kernels(), readers.keyDim());
    this.values = new BinnedValueAccumulator(readers.kernels(), readers.valueDim());
  }

  @Override
  public void beginPass() {
    values.begin();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    keys.score((VqllmPage) page, kvHead, queries, rows, scores);
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    values.add((VqllmPage) page, kvHead, weights, rows);
  }

  @Override
  public void rescale(int row, float factor) {
    values.rescale(row, factor);
  }

  @Override
  public void endPass(int rows, float[] accumulator) {
    values.end(rows, accumulator);
  }
}
