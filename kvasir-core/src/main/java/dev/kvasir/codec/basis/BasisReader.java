package dev.kvasir.codec.basis;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.UniformReader;

/**
 * Attention on the packed bits of pages in a basis of their own: queries are changed once in a
 * walk, which stays within a layer and head, and outputs restored once at its end.
 */
final class BasisReader implements PageReader {
  static final PageReaders.Kind<BasisReader> KIND = new PageReaders.Kind<>(BasisReader::new);

  private final int keyDim;
  private final UniformReader uniform;
  private final float[] changed; // (rows, keyDim)
  private final HeldOutputs held;
  private boolean isChanged;

  private BasisReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.uniform = readers.of(UniformReader.KIND);
    this.changed = new float[PageReader.MOST_ROWS * keyDim];
    this.held = new HeldOutputs(readers.kernels(), readers.valueDim());
  }

  @Override
  public void begin() {
    isChanged = false;
    held.begin();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    BasisPage coded = (BasisPage) page;
    if (!isChanged) {
      System.arraycopy(queries, 0, changed, 0, rows * keyDim);
      coded.keyBasis().meet(kvHead, changed, 0, rows);
      isChanged = true;
    }
    uniform.score(coded.codes(), kvHead, changed, rows, scores);
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    BasisPage coded = (BasisPage) page;
    float[] out = held.in(coded.valueBasis(), kvHead, rows);
    uniform.mix(coded.codes(), kvHead, weights, rows, out);
  }

  @Override
  public void shrink(int row, float factor) {
    held.shrink(row, factor);
  }

  @Override
  public void end(int rows, float[] mixed) {
    held.end(rows, mixed);
  }
}
