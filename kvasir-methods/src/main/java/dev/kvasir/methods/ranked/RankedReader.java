package dev.kvasir.methods.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.QuantizedMatmul;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Computes attention on the packed codes of both tiers, for a few query rows that share a KV head.
 * Key factors multiply the queries, once per page; value factors multiply a page's sums.
 */
final class RankedReader implements PageReader {
  static final PageReaders.Kind<RankedReader> KIND = new PageReaders.Kind<>(RankedReader::new);

  private static final int TOKENS = Page.TOKENS;

  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private final QuantizedMatmul matmul;
  private final int[] tierOrder = new int[TOKENS];
  private final float[] factors;
  private final float[] multiplied; // (rows, keyDim)
  private final float[] tier; // (rows, tokens of a tier): scores, or weights
  private final float[] outputs; // (rows, valueDim)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  private RankedReader(PageReaders readers) {
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    int widest = Math.max(keyDim, valueDim);
    this.matmul = new QuantizedMatmul(readers.workspace(), PageReader.MAX_ROWS, widest);
    this.factors = new float[widest];
    this.multiplied = new float[PageReader.MAX_ROWS * keyDim];
    this.tier = new float[PageReader.MAX_ROWS * TOKENS];
    this.outputs = new float[PageReader.MAX_ROWS * valueDim];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    RankedPage ranked = (RankedPage) page;
    RankedHeadLayout layout = ranked.layout();
    long offset = ranked.offset(kvHead);
    ranked.readTierOrder(kvHead, tierOrder);
    matmul.invalidateOperands(); // each page has its own factors
    float[] x = queries;
    if (layout.dividesKeys()) {
      readFactors(ranked, offset + layout.keyFactorsOffset(), keyDim);
      for (int row = 0; row < rows; row++) {
        int at = row * keyDim;
        kernels.rows().multiply(queries, at, factors, 0, multiplied, at, keyDim);
      }
      x = multiplied;
    }
    int first = 0;
    for (int i = 0; i < layout.tiers(); i++) {
      int tokens = layout.tokens(i);
      Arrays.fill(tier, 0, rows * tokens, 0);
      inputRows.set(x, rows, keyDim);
      outputRows.set(tier, rows, tokens);
      long keysAt = offset + layout.keysOffset(i);
      matmul.add(
          layout.keys().get(i), ranked.bytes(), keysAt, inputRows, ranked.isExact(), outputRows);
      scatter(first, tokens, rows, scores);
      first += tokens;
    }
  }

  private void scatter(int first, int tokens, int rows, float[] scores) {
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < tokens; i++) {
        scores[row * TOKENS + tierOrder[first + i]] = tier[row * tokens + i];
      }
    }
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    RankedPage ranked = (RankedPage) page;
    RankedHeadLayout layout = ranked.layout();
    long offset = ranked.offset(kvHead);
    ranked.readTierOrder(kvHead, tierOrder);
    float[] out = layout.dividesValues() ? outputs : accumulator;
    if (layout.dividesValues()) {
      Arrays.fill(outputs, 0, rows * valueDim, 0);
    }
    int first = 0;
    for (int i = 0; i < layout.tiers(); i++) {
      int tokens = layout.tokens(i);
      gather(first, tokens, rows, weights);
      inputRows.set(tier, rows, tokens);
      outputRows.set(out, rows, valueDim);
      long valuesAt = offset + layout.valuesOffset(i);
      matmul.add(
          layout.values().get(i),
          ranked.bytes(),
          valuesAt,
          inputRows,
          ranked.isExact(),
          outputRows);
      first += tokens;
    }
    if (layout.dividesValues()) {
      readFactors(ranked, offset + layout.valueFactorsOffset(), valueDim);
      addMultiplied(rows, accumulator);
    }
  }

  private void gather(int first, int tokens, int rows, float[] weights) {
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < tokens; i++) {
        tier[row * tokens + i] = weights[row * TOKENS + tierOrder[first + i]];
      }
    }
  }

  private void addMultiplied(int rows, float[] accumulator) {
    for (int row = 0; row < rows; row++) {
      int at = row * valueDim;
      kernels.rows().multiply(outputs, at, factors, 0, outputs, at, valueDim);
      kernels.rows().add(accumulator, at, outputs, at, valueDim);
    }
  }

  private void readFactors(RankedPage page, long at, int count) {
    kernels.halves().expand(page.bytes(), at, factors, 0, count);
  }
}
