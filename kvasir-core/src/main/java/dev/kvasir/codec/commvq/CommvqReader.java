package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Attention on pages of codes, for a few query rows that share a KV head. How keys are read is
 * {@link KeyReading}. Values are never made: weights are summed by row of the codebook over all
 * pages of a walk, and the rows are mixed once at its end.
 */
final class CommvqReader implements PageReader {
  static final PageReaders.Kind<CommvqReader> KIND = new PageReaders.Kind<>(CommvqReader::new);

  private static final int PAGE = Page.TOKENS;

  /** Beyond this, weights that are held back are brought up to date before digits are lost. */
  private static final float LEAST_HELD = 0x1p-40f;

  /** Sums of weights stay below 2^27, and sums of halves want weights below 2^15. */
  private static final float LOWERED = 0x1p-20f;

  private final Kernels kernels;
  private final int valueDim;
  private final KeyScores summed;
  private final KeyScores looked;
  private final float[] scales = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)

  private final float[] weights = new float[PAGE * PageReader.MOST_ROWS]; // (PAGE, lanes)
  private final float[] totals = new float[PageReader.MOST_ROWS]; // weights of all tokens
  private final float[] held = new float[PageReader.MOST_ROWS];
  private final float[] back = new float[PageReader.MOST_ROWS]; // what makes up for it
  private float[] bins = {}; // (sets, ROWS, lanes)
  private float[] turnedBins = {}; // (rows, sets, ROWS), lowered
  private final float[] lowered; // (rows, valueDim)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private LayerRows mixedRows; // null until the walk meets any
  private int mixedHead;
  private int lanes;

  private CommvqReader(PageReaders readers) {
    this.kernels = readers.kernels();
    this.valueDim = readers.valueDim();
    this.summed = new SummedKeys(kernels);
    this.looked = new QueryTables(kernels);
    this.lowered = new float[PageReader.MOST_ROWS * valueDim];
  }

  @Override
  public void begin() {
    mixedRows = null;
    summed.begin();
    looked.begin();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    CommvqPage coded = (CommvqPage) page;
    KeyScores keys = coded.reading() == KeyReading.TABLES ? looked : summed;
    keys.score(coded, kvHead, queries, rows, scores);
  }

  @Override
  public void mix(Page page, int kvHead, float[] probabilities, int rows, float[] mixed) {
    CommvqPage coded = (CommvqPage) page;
    if (mixedRows == null) {
      beginMixing(coded.rows(), kvHead, rows);
    }
    coded.readValues(kernels, kvHead, indices);
    coded.readValueScales(kernels, scales);
    for (int row = 0; row < rows; row++) {
      back[row] = 1 / held[row];
    }
    kernels.codebooks().weighTokens(probabilities, rows, back, scales, lanes, totals, weights);
    kernels.codebooks().collect(indices, coded.rows().valueSets(), PAGE, weights, lanes, bins);
  }

  private void beginMixing(LayerRows layerRows, int kvHead, int rows) {
    mixedRows = layerRows;
    mixedHead = kvHead;
    lanes = rows <= 4 ? 4 : PageReader.MOST_ROWS;
    int count = layerRows.valueSets() * FixedRows.ROWS;
    if (indices.length < layerRows.valueSets() * PAGE) {
      indices = new byte[layerRows.valueSets() * PAGE];
    }
    if (bins.length < count * lanes) {
      bins = new float[count * lanes];
      turnedBins = new float[count * PageReader.MOST_ROWS];
    }
    Arrays.fill(bins, 0, count * lanes, 0);
    Arrays.fill(weights, 0);
    Arrays.fill(totals, 0);
    Arrays.fill(held, 1);
  }

  /** Weights are held back as they are; what they have to shrink by waits for the end. */
  @Override
  public void shrink(int row, float factor) {
    if (mixedRows == null) {
      return;
    }
    held[row] *= factor;
    if (held[row] < LEAST_HELD) {
      scale(row, held[row]);
      held[row] = 1;
    }
  }

  private void scale(int row, float factor) {
    totals[row] *= factor;
    for (int at = row; at < mixedRows.valueSets() * FixedRows.ROWS * lanes; at += lanes) {
      bins[at] *= factor;
    }
  }

  @Override
  public void end(int rows, float[] mixed) {
    if (mixedRows == null) {
      return;
    }
    sumRows(rows);
    float[] mean = mixedRows.valueMeans().get(mixedHead);
    for (int row = 0; row < rows; row++) {
      float total = totals[row] * held[row];
      for (int i = 0; i < valueDim; i++) {
        int at = row * valueDim + i;
        mixed[at] += Math.fma(total, mean[i], lowered[at] * (1 / LOWERED));
      }
    }
  }

  private void sumRows(int rows) {
    int count = mixedRows.valueSets() * FixedRows.ROWS;
    for (int row = 0; row < rows; row++) {
      float factor = held[row] * LOWERED;
      for (int i = 0; i < count; i++) {
        turnedBins[row * count + i] = bins[i * lanes + row] * factor;
      }
    }
    Arrays.fill(lowered, 0, rows * valueDim, 0);
    DenseMatrix halves = mixedRows.values().get(mixedHead);
    kernels
        .halves()
        .weightedSums(
            inputRows.set(turnedBins, rows, count),
            halves,
            0,
            outputRows.set(lowered, rows, valueDim));
  }
}
