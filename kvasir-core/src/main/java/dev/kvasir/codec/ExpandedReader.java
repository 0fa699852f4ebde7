package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;

/** Pages of any kind, expanded to floats before they are multiplied. */
public final class ExpandedReader implements PageReader {
  public static final PageReaders.Kind<ExpandedReader> KIND =
      new PageReaders.Kind<>(readers -> new ExpandedReader(readers.room(), readers.headDim()));

  private static final int TOKENS = Page.TOKENS;

  private final PageRoom room;
  private final Kernels kernels;
  private final int headDim;
  private final float[] vectors; // (TOKENS, headDim), keys or values

  private ExpandedReader(PageRoom room, int headDim) {
    this.room = room;
    this.kernels = room.kernels();
    this.headDim = headDim;
    this.vectors = new float[TOKENS * headDim];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    page.expandKeys(room, kvHead, TOKENS, vectors);
    kernels
        .floats()
        .products(
            queries, 0, headDim, rows, vectors, 0, headDim, TOKENS, headDim, scores, 0, TOKENS);
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    page.expandValues(room, kvHead, TOKENS, vectors);
    kernels
        .floats()
        .weightedSums(
            weights, 0, TOKENS, rows, vectors, 0, headDim, TOKENS, headDim, mixed, 0, headDim);
  }
}
