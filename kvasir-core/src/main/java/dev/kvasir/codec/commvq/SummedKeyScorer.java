package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RotaryCodes;

/**
 * Adds up the rows of a key in integers, once for all query heads. Keys are rotated only by their
 * offset in the page; queries are rotated back by the page's position.
 */
final class SummedKeyScorer implements KeyScorer {
  private static final int PAGE = Page.TOKENS;

  private final Kernels kernels;
  private final float[] scales = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)
  private float[] arrangedQueries = {}; // (rows, width)
  private short[] sums = {};
  private float[] keys = {};
  private final RotaryCodes codes = new RotaryCodes();
  private RopeRotation ropeRotation; // null until there is a table

  SummedKeyScorer(Kernels kernels) {
    this.kernels = kernels;
  }

  @Override
  public void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores) {
    RopeTable table = page.layerCodebooks().table();
    Int8Codebooks codebooks = page.layerCodebooks().keys().get(kvHead);
    ensureCapacity(table, codebooks.sets());
    table.toPairOrder(queries, 0, rows, arrangedQueries, 0);
    ropeRotation.rotate(kernels, arrangedQueries, rows, page.rotation(), -page.position());
    page.readKeys(kernels, kvHead, indices);
    page.readKeyScales(kernels, scales);
    codes.set(codebooks, indices, scales, table.cosines(), table.sines());
    kernels.codebooks().rotatedScores(codes, arrangedQueries, rows, sums, keys, scores);
  }

  private void ensureCapacity(RopeTable table, int sets) {
    if (indices.length < sets * PAGE) {
      indices = new byte[sets * PAGE];
    }
    if (ropeRotation == null || ropeRotation.table() != table) {
      ropeRotation = new RopeRotation(table);
      arrangedQueries = new float[PageReader.MAX_ROWS * table.width()];
      sums = new short[CodebookKernels.scoringScratch(table.width())];
      keys = new float[CodebookKernels.scoringScratch(table.width())];
    }
  }
}
