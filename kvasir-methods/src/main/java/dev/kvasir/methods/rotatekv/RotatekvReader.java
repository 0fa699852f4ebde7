package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.DequantizingReader;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.basis.OutputAccumulator;
import dev.kvasir.codec.uniform.UniformReader;

/**
 * Computes attention for a few query rows. Keys are dequantized, because they are spread over a
 * group of heads and are before RoPE. Values are summed on the packed codes and restored once at
 * the end of a pass.
 */
final class RotatekvReader implements PageReader {
  static final PageReaders.Kind<RotatekvReader> KIND = new PageReaders.Kind<>(RotatekvReader::new);

  private final DequantizingReader expanded;
  private final UniformReader uniform;
  private final OutputAccumulator outputs;

  private RotatekvReader(PageReaders readers) {
    this.expanded = readers.of(DequantizingReader.KIND);
    this.uniform = readers.of(UniformReader.KIND);
    this.outputs = new OutputAccumulator(readers.kernels(), readers.valueDim());
  }

  @Override
  public void beginPass() {
    outputs.beginPass();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    expanded.score(page, kvHead, queries, rows, scores);
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    RotatekvPage rotated = (RotatekvPage) page;
    float[] out = outputs.accumulator(rotated.codec().valueBasis(), kvHead, rows);
    uniform.accumulate(rotated.codes(), kvHead, weights, rows, out);
  }

  @Override
  public void rescale(int row, float factor) {
    outputs.rescale(row, factor);
  }

  @Override
  public void endPass(int rows, float[] accumulator) {
    outputs.endPass(rows, accumulator);
  }
}
