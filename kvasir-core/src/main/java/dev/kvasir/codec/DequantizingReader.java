package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;

/** Attends to pages of any kind by dequantizing them to floats first. */
public final class DequantizingReader implements PageReader {
  public static final PageReaders.Kind<DequantizingReader> KIND =
      new PageReaders.Kind<>(DequantizingReader::new);

  private static final int TOKENS = Page.TOKENS;

  private final PageWorkspace workspace;
  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private final float[] vectors; // (TOKENS, keyDim) or (TOKENS, valueDim)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  private DequantizingReader(PageReaders readers) {
    this.workspace = readers.workspace();
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.vectors = new float[TOKENS * Math.max(keyDim, valueDim)];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    page.dequantizeKeys(workspace, kvHead, TOKENS, vectors);
    kernels
        .floats()
        .products(
            inputRows.set(queries, rows, keyDim),
            vectorRows.set(vectors, TOKENS, keyDim),
            outputRows.set(scores, rows, TOKENS));
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    page.dequantizeValues(workspace, kvHead, TOKENS, vectors);
    kernels
        .floats()
        .weightedSums(
            inputRows.set(weights, rows, TOKENS),
            vectorRows.set(vectors, TOKENS, valueDim),
            outputRows.set(accumulator, rows, valueDim));
  }
}
