package dev.kvasir.methods.kvarn;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.basis.OutputAccumulator;
import dev.kvasir.codec.uniform.UniformReader;
import java.util.Arrays;

/**
 * Computes attention on the packed codes, for a few query rows. Token factors multiply the scores,
 * and channel factors multiply the value sums of a page.
 */
final class KvarnReader implements PageReader {
  static final PageReaders.Kind<KvarnReader> KIND = new PageReaders.Kind<>(KvarnReader::new);

  private final int keyDim;
  private final int valueDim;
  private final UniformReader uniform;
  private final float[] rotated; // (rows, keyDim)
  private final float[] sums; // (rows, valueDim), of one page
  private final OutputAccumulator outputs;
  private boolean isRotated;

  private KvarnReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.uniform = readers.of(UniformReader.KIND);
    this.rotated = new float[PageReader.MAX_ROWS * keyDim];
    this.sums = new float[PageReader.MAX_ROWS * valueDim];
    this.outputs = new OutputAccumulator(readers.kernels(), valueDim);
  }

  @Override
  public void beginPass() {
    isRotated = false;
    outputs.beginPass();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    KvarnPage balanced = (KvarnPage) page;
    if (!isRotated) {
      System.arraycopy(queries, 0, rotated, 0, rows * keyDim);
      balanced.codec().keyBasis().transformQueries(kvHead, rotated, 0, rows);
      isRotated = true;
    }
    uniform.score(balanced.codes(), kvHead, rotated, rows, scores);
    for (int token = 0; token < Page.TOKENS; token++) {
      float factor = balanced.tokenFactor(kvHead, token);
      for (int row = 0; row < rows; row++) {
        scores[row * Page.TOKENS + token] *= factor;
      }
    }
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    KvarnPage balanced = (KvarnPage) page;
    Arrays.fill(sums, 0, rows * valueDim, 0);
    uniform.accumulate(balanced.codes(), kvHead, weights, rows, sums);
    float[] out = outputs.accumulator(balanced.codec().valueBasis(), kvHead, rows);
    for (int channel = 0; channel < valueDim; channel++) {
      float factor = balanced.channelFactor(kvHead, channel);
      for (int row = 0; row < rows; row++) {
        out[row * valueDim + channel] += factor * sums[row * valueDim + channel];
      }
    }
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
