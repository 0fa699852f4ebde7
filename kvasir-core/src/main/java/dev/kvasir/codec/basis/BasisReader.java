package dev.kvasir.codec.basis;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.UniformReader;

/**
 * Attends to pages in a transformed basis, on their codes. Queries are transformed once per pass,
 * which stays within a layer and head. Outputs are transformed back once at the end.
 */
final class BasisReader implements PageReader {
  static final PageReaders.Kind<BasisReader> KIND = new PageReaders.Kind<>(BasisReader::new);

  private final int keyDim;
  private final UniformReader uniform;
  private final float[] transformed; // (rows, keyDim)
  private final OutputAccumulator outputs;
  private boolean isTransformed;

  private BasisReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.uniform = readers.of(UniformReader.KIND);
    this.transformed = new float[PageReader.MAX_ROWS * keyDim];
    this.outputs = new OutputAccumulator(readers.kernels(), readers.valueDim());
  }

  @Override
  public void beginPass() {
    isTransformed = false;
    outputs.beginPass();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    BasisPage quantized = (BasisPage) page;
    if (!isTransformed) {
      System.arraycopy(queries, 0, transformed, 0, rows * keyDim);
      quantized.keyBasis().transformQueries(kvHead, transformed, 0, rows);
      isTransformed = true;
    }
    uniform.score(quantized.codes(), kvHead, transformed, rows, scores);
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    BasisPage quantized = (BasisPage) page;
    float[] out = outputs.accumulator(quantized.valueBasis(), kvHead, rows);
    uniform.accumulate(quantized.codes(), kvHead, weights, rows, out);
  }

  @Override
  public void rescale(int row, float factor) {
    outputs.rescale(row, factor);
  }

  @Override
  public void endPass(int rows, float[] accumulator) {
    outputs.endPass(rows, accumulator);
  }
}
