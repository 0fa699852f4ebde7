package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;

/** Pages of any kind, expanded to floats before they are multiplied. */
public final class ExpandedReader implements PageReader {
  public static final PageReaders.Kind<ExpandedReader> KIND =
      new PageReaders.Kind<>(ExpandedReader::new);

  private static final int TOKENS = Page.TOKENS;

  private final PageRoom room;
  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private final float[] vectors; // (TOKENS, keyDim) or (TOKENS, valueDim)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  private ExpandedReader(PageReaders readers) {
    this.room = readers.room();
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.vectors = new float[TOKENS * Math.max(keyDim, valueDim)];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    page.expandKeys(room, kvHead, TOKENS, vectors);
    kernels
        .floats()
        .products(
            inputRows.set(queries, rows, keyDim),
            vectorRows.set(vectors, TOKENS, keyDim),
            outputRows.set(scores, rows, TOKENS));
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    page.expandValues(room, kvHead, TOKENS, vectors);
    kernels
        .floats()
        .weightedSums(
            inputRows.set(weights, rows, TOKENS),
            vectorRows.set(vectors, TOKENS, valueDim),
            outputRows.set(mixed, rows, valueDim));
  }
}
