package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PositionTurn;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.TurnTable;

/**
 * A key is added up from its rows once for all query heads, in whole numbers, and turned by its
 * place on the page only: queries are turned back by the page's position.
 */
final class SummedKeys implements KeyScores {
  private static final int PAGE = Page.TOKENS;

  private final Kernels kernels;
  private final float[] scales = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)
  private float[] arrangedQueries = {}; // (rows, width)
  private short[] sums = {};
  private float[] keys = {};
  private final RotaryCodes codes = new RotaryCodes();
  private PositionTurn turn; // null until there is a table

  SummedKeys(Kernels kernels) {
    this.kernels = kernels;
  }

  @Override
  public void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores) {
    TurnTable table = page.rows().table();
    FixedRows fixed = page.rows().keys().get(kvHead);
    makeRoom(table, fixed.sets());
    table.arrange(queries, 0, rows, arrangedQueries, 0);
    turn.turn(kernels, arrangedQueries, rows, page.rotation(), -page.position());
    page.readKeys(kernels, kvHead, indices);
    page.readKeyScales(kernels, scales);
    codes.set(fixed, indices, scales, table.cosines(), table.sines());
    kernels.codebooks().turnedScores(codes, arrangedQueries, rows, sums, keys, scores);
  }

  private void makeRoom(TurnTable table, int sets) {
    if (indices.length < sets * PAGE) {
      indices = new byte[sets * PAGE];
    }
    if (turn == null || turn.table() != table) {
      turn = new PositionTurn(table);
      arrangedQueries = new float[PageReader.MOST_ROWS * table.width()];
      sums = new short[CodebookKernels.scoringRoom(table.width())];
      keys = new float[CodebookKernels.scoringRoom(table.width())];
    }
  }
}
