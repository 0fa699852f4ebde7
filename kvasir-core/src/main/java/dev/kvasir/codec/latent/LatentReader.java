package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.QuantizedMatmul;
import dev.kvasir.kernel.RowBlock;

/**
 * Attends to pages of latents. The method's reader scores the first channels of queries, and the
 * scores of the rotary channels are added.
 */
final class LatentReader implements PageReader {
  static final PageReaders.Kind<LatentReader> KIND = new PageReaders.Kind<>(LatentReader::new);

  private static final int TOKENS = Page.TOKENS;

  private final int keyDim;
  private final int latentDim;
  private final PageReaders latentReaders;
  private final QuantizedMatmul matmul;
  private final float[] latentQueries; // (rows, latentDim)
  private final RowBlock rotaryRows = new RowBlock(); // channels of queries
  private final RowBlock scoreRows = new RowBlock();
  private boolean hasLatentQueries; // for the queries of this pass

  private LatentReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.latentDim = readers.valueDim();
    this.latentReaders = new PageReaders(readers.kernels(), latentDim, latentDim);
    this.matmul = new QuantizedMatmul(readers.workspace(), MAX_ROWS, keyDim - latentDim);
    this.latentQueries = new float[MAX_ROWS * latentDim];
  }

  @Override
  public void beginPass() {
    hasLatentQueries = false;
    matmul.invalidateOperands();
    latentReaders.beginPass();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    LatentPage quantized = (LatentPage) page;
    RotaryChannels rotary = quantized.rotary();
    if (!hasLatentQueries) {
      rotary.copyLatents(queries, 0, rows, latentQueries);
      hasLatentQueries = true;
    }
    PageReader method = quantized.latents().reader(latentReaders);
    method.score(quantized.latents(), kvHead, latentQueries, rows, scores);
    long offset = rotary.offset(kvHead);
    rotaryRows.set(queries, latentDim, keyDim, rows, keyDim - latentDim);
    scoreRows.set(scores, rows, TOKENS);
    matmul.add(rotary.matrix(), quantized.rotaryCodes(), offset, rotaryRows, true, scoreRows);
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    Page latents = ((LatentPage) page).latents();
    latents.reader(latentReaders).accumulate(latents, kvHead, weights, rows, accumulator);
  }

  @Override
  public void rescale(int row, float factor) {
    latentReaders.rescale(row, factor);
  }

  @Override
  public void endPass(int rows, float[] accumulator) {
    latentReaders.endPass(rows, accumulator);
  }
}
