package dev.kvasir.codec.rotatekv;

import dev.kvasir.codec.ExpandedReader;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.basis.HeldOutputs;
import dev.kvasir.codec.uniform.UniformReader;

/**
 * Attention for a few query rows: keys, which are spread over a group of heads and turned back, are
 * expanded; values are summed on their bits and restored once at the end of a walk.
 */
final class RotatekvReader implements PageReader {
  static final PageReaders.Kind<RotatekvReader> KIND = new PageReaders.Kind<>(RotatekvReader::new);

  private final ExpandedReader expanded;
  private final UniformReader uniform;
  private final HeldOutputs held;

  private RotatekvReader(PageReaders readers) {
    this.expanded = readers.of(ExpandedReader.KIND);
    this.uniform = readers.of(UniformReader.KIND);
    this.held = new HeldOutputs(readers.kernels(), readers.valueDim());
  }

  @Override
  public void begin() {
    held.begin();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    expanded.score(page, kvHead, queries, rows, scores);
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    RotatekvPage rotated = (RotatekvPage) page;
    float[] out = held.in(rotated.codec().valueBasis(), kvHead, rows);
    uniform.mix(rotated.codes(), kvHead, weights, rows, out);
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
