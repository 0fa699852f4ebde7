package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;

/**
 * Scores queries against codebook keys. Keys are summed from their rows once for all query heads
 * and stay in group order; queries are permuted to match. Keys are rotated by their index on the
 * page only, since queries are rotated back by the page's position.
 */
final class CodebookKeyScorer {
  private static final int PAGE = Page.TOKENS;

  private final Kernels kernels;
  private final int keyDim;
  private final float[] unrotatedQueries; // (rows, keyDim)
  private final float[] groupedQueries; // (rows, keyDim)
  private final float[] keys; // (PAGE, keyDim)
  private final float[] scales = new float[PAGE];
  private byte[] codes = {}; // (PAGE, groups, stages)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  CodebookKeyScorer(Kernels kernels, int keyDim) {
    this.kernels = kernels;
    this.keyDim = keyDim;
    this.unrotatedQueries = new float[PageReader.MAX_ROWS * keyDim];
    this.groupedQueries = new float[PageReader.MAX_ROWS * keyDim];
    this.keys = new float[PAGE * keyDim];
  }

  /**
   * @param queries (rows, keyDim)
   * @param scores (rows, PAGE), set
   */
  void score(VqllmPage page, int kvHead, float[] queries, int rows, float[] scores) {
    VqllmPageLayout layout = page.layout();
    unrotate(page, queries, rows);
    codes = page.codes(layout.keys(), kvHead, codes);
    int vectors = PAGE * layout.keys().count();
    page.codebooks().keys().sums(codes, vectors, layout.stages(), keys);
    page.groupedRope().rotateEach(kernels, keys, PAGE);
    kernels
        .floats()
        .products(
            inputRows.set(groupedQueries, rows, keyDim),
            vectorRows.set(keys, PAGE, keyDim),
            outputRows.set(scores, rows, PAGE));
    page.readScales(kernels, layout.keys(), scales);
    for (int row = 0; row < rows; row++) {
      for (int token = 0; token < PAGE; token++) {
        scores[row * PAGE + token] *= scales[token];
      }
    }
  }

  private void unrotate(VqllmPage page, float[] queries, int rows) {
    System.arraycopy(queries, 0, unrotatedQueries, 0, rows * keyDim);
    page.unrotate(unrotatedQueries, rows);
    int[] members = page.keyMembers();
    for (int row = 0; row < rows * keyDim; row += keyDim) {
      for (int i = 0; i < keyDim; i++) {
        groupedQueries[row + i] = unrotatedQueries[row + members[i]];
      }
    }
  }
}
