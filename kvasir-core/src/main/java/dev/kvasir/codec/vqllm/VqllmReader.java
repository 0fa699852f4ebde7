package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;

/** Attention on pages of codes, for a few query rows that share a KV head. */
final class VqllmReader implements PageReader {
  static final PageReaders.Kind<VqllmReader> KIND = new PageReaders.Kind<>(VqllmReader::new);

  private final PickedKeys keys;
  private final BinnedValues values;

  private VqllmReader(PageReaders readers) {
    this.keys = new PickedKeys(readers.kernels(), readers.keyDim());
    this.values = new BinnedValues(readers.kernels(), readers.valueDim());
  }

  @Override
  public void begin() {
    values.begin();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    keys.score((VqllmPage) page, kvHead, queries, rows, scores);
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    values.add((VqllmPage) page, kvHead, weights, rows);
  }

  @Override
  public void shrink(int row, float factor) {
    values.shrink(row, factor);
  }

  @Override
  public void end(int rows, float[] mixed) {
    values.end(rows, mixed);
  }
}
