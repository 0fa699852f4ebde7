package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;

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
        .products(queries, 0, keyDim, rows, vectors, 0, keyDim, TOKENS, keyDim, scores, 0, TOKENS);
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    page.expandValues(room, kvHead, TOKENS, vectors);
    kernels
        .floats()
        .weightedSums(
            weights, 0, TOKENS, rows, vectors, 0, valueDim, TOKENS, valueDim, mixed, 0, valueDim);
  }
}
