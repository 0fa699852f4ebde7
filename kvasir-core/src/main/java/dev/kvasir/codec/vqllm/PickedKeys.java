package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;

/**
 * Keys are added up from their rows once for all query heads and stay in the order of groups, which
 * queries are brought into. They are turned by their place on the page only: queries are turned
 * back by the page's position.
 */
final class PickedKeys {
  private static final int PAGE = Page.TOKENS;

  private final Kernels kernels;
  private final int keyDim;
  private final float[] turnedQueries; // (rows, keyDim)
  private final float[] groupedQueries; // (rows, keyDim)
  private final float[] keys; // (PAGE, keyDim)
  private final float[] scales = new float[PAGE];
  private byte[] codes = {}; // (PAGE, groups, stages)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  PickedKeys(Kernels kernels, int keyDim) {
    this.kernels = kernels;
    this.keyDim = keyDim;
    this.turnedQueries = new float[PageReader.MOST_ROWS * keyDim];
    this.groupedQueries = new float[PageReader.MOST_ROWS * keyDim];
    this.keys = new float[PAGE * keyDim];
  }

  /**
   * @param queries (rows, keyDim)
   * @param scores (rows, PAGE), set
   */
  void score(VqllmPage page, int kvHead, float[] queries, int rows, float[] scores) {
    VqllmShape shape = page.shape();
    turnBack(page, queries, rows);
    codes = page.codes(shape.keys(), kvHead, codes);
    int vectors = PAGE * shape.keys().count();
    page.books().keys().sums(codes, vectors, shape.stages(), keys);
    page.groupTurns().turnEach(kernels, keys, PAGE);
    kernels
        .floats()
        .products(
            inputRows.set(groupedQueries, rows, keyDim),
            vectorRows.set(keys, PAGE, keyDim),
            outputRows.set(scores, rows, PAGE));
    page.readScales(kernels, shape.keys(), scales);
    for (int row = 0; row < rows; row++) {
      for (int token = 0; token < PAGE; token++) {
        scores[row * PAGE + token] *= scales[token];
      }
    }
  }

  private void turnBack(VqllmPage page, float[] queries, int rows) {
    System.arraycopy(queries, 0, turnedQueries, 0, rows * keyDim);
    page.turnBack(turnedQueries, rows);
    int[] members = page.keyMembers();
    for (int row = 0; row < rows * keyDim; row += keyDim) {
      for (int i = 0; i < keyDim; i++) {
        groupedQueries[row + i] = turnedQueries[row + members[i]];
      }
    }
  }
}
