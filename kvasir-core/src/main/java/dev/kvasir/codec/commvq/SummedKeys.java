package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.TurnTable;

/**
 * A key is added up from its rows once for all query heads, in whole numbers, and turned by its
 * place on the page only: queries are turned back by the page's position.
 */
final class SummedKeys implements KeyScores {
  private static final int PAGE = Page.TOKENS;

  /** Tokens whose keys are made at a time, for little room; 16 to 128 take about as long. */
  private static final int SOME = 32;

  private final Kernels kernels;
  private final int keyDim;
  private final float[] turnedQueries; // (rows, keyDim)
  private final float[] scales = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)
  private float[] arrangedQueries = {}; // (rows, width)
  private short[] sums = {}; // (SOME, width)
  private float[] keys = {}; // (SOME, width)

  SummedKeys(Kernels kernels, int keyDim) {
    this.kernels = kernels;
    this.keyDim = keyDim;
    this.turnedQueries = new float[PageReader.MOST_ROWS * keyDim];
  }

  @Override
  public void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores) {
    TurnTable table = page.rows().table();
    FixedRows fixed = page.rows().keys().get(kvHead);
    int width = table.width();
    makeRoom(fixed.sets(), width);
    turnBack(page, queries, rows);
    page.readKeys(kernels, kvHead, indices);
    page.readKeyScales(kernels, scales);
    for (int from = 0; from < PAGE; from += SOME) {
      table.turnAlong(kernels, fixed, indices, from, from + SOME, scales, sums, keys);
      kernels
          .floats()
          .products(
              arrangedQueries, 0, width, rows, keys, 0, width, SOME, width, scores, from, PAGE);
    }
  }

  private void turnBack(CommvqPage page, float[] queries, int rows) {
    System.arraycopy(queries, 0, turnedQueries, 0, rows * keyDim);
    page.rotation().turn(turnedQueries, 0, keyDim, rows, -page.position());
    page.rows().table().arrange(turnedQueries, 0, rows, arrangedQueries, 0);
  }

  private void makeRoom(int sets, int width) {
    if (indices.length < sets * PAGE) {
      indices = new byte[sets * PAGE];
    }
    if (keys.length < SOME * width) {
      arrangedQueries = new float[PageReader.MOST_ROWS * width];
      sums = new short[SOME * width];
      keys = new float[SOME * width];
    }
  }
}
