package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.GridSums;
import dev.kvasir.kernel.RowBlock;

/**
 * Attention on pages of latents: the method's own reader meets the first channels of queries, and
 * what the channels that turn score is added to it.
 */
final class LatentReader implements PageReader {
  static final PageReaders.Kind<LatentReader> KIND = new PageReaders.Kind<>(LatentReader::new);

  private static final int TOKENS = Page.TOKENS;

  private final int keyDim;
  private final int latent;
  private final PageReaders ofLatents;
  private final GridSums sums;
  private final float[] latentQueries; // (rows, latent)
  private final RowBlock rotaryRows = new RowBlock(); // channels of queries
  private final RowBlock scoreRows = new RowBlock();
  private boolean isCut; // the queries of this walk

  private LatentReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.latent = readers.valueDim();
    this.ofLatents = new PageReaders(readers.kernels(), latent, latent);
    this.sums = new GridSums(readers.room(), MOST_ROWS, keyDim - latent);
    this.latentQueries = new float[MOST_ROWS * latent];
  }

  @Override
  public void begin() {
    isCut = false;
    sums.begin();
    ofLatents.begin();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    LatentPage coded = (LatentPage) page;
    RotaryChannels rotary = coded.rotary();
    if (!isCut) {
      rotary.latentsOf(queries, 0, rows, latentQueries);
      isCut = true;
    }
    PageReader method = coded.latents().reader(ofLatents);
    method.score(coded.latents(), kvHead, latentQueries, rows, scores);
    long offset = rotary.offset(kvHead);
    rotaryRows.set(queries, latent, keyDim, rows, keyDim - latent);
    scoreRows.set(scores, rows, TOKENS);
    sums.add(rotary.grid(), coded.turned(), offset, rotaryRows, true, scoreRows);
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    Page latents = ((LatentPage) page).latents();
    latents.reader(ofLatents).mix(latents, kvHead, weights, rows, mixed);
  }

  @Override
  public void shrink(int row, float factor) {
    ofLatents.shrink(row, factor);
  }

  @Override
  public void end(int rows, float[] mixed) {
    ofLatents.end(rows, mixed);
  }
}
