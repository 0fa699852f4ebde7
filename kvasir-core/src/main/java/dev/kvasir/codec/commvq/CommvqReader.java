package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Attends to pages of codes, for a few query rows that share a KV head. {@link KeyScoring}
 * determines how keys are scored. Values are never decoded: weights are summed per codebook row, or
 * per bit that adds a row, over all pages of a pass, and multiplied with the rows once at its end.
 */
final class CommvqReader implements PageReader {
  static final PageReaders.Kind<CommvqReader> KIND = new PageReaders.Kind<>(CommvqReader::new);

  private static final int PAGE = Page.TOKENS;

  /** Below this scale, deferred sums are rescaled before they lose precision. */
  private static final float MIN_PENDING_SCALE = 0x1p-40f;

  /** Sums of weights stay below 2^27, and sums of halves require weights below 2^15. */
  private static final float LOWERED = 0x1p-20f;

  private final Kernels kernels;
  private final int valueDim;
  private final KeyScorer sumScorer;
  private final KeyScorer tableScorer;
  private final float[] scales = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)

  private final float[] weights = new float[PAGE * PageReader.MAX_ROWS]; // (PAGE, lanes)
  private final float[] totals = new float[PageReader.MAX_ROWS]; // sum of the weights of all tokens
  private final float[] pendingScale = new float[PageReader.MAX_ROWS];
  private final float[] inverseScale = new float[PageReader.MAX_ROWS]; // 1 / pendingScale
  private float[] bins = {}; // (sets, ROWS, lanes)
  private float[] transposedBins = {}; // (rows, sets, ROWS), lowered
  private final float[] lowered; // (rows, valueDim)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private CompactLayerCodebooks valueCodebooks; // null until the pass reaches any
  private int valueHead;
  private int lanes;

  private CommvqReader(PageReaders readers) {
    this.kernels = readers.kernels();
    this.valueDim = readers.valueDim();
    this.sumScorer = new SummedKeyScorer(kernels);
    this.tableScorer = new TableKeyScorer(kernels);
    this.lowered = new float[PageReader.MAX_ROWS * valueDim];
  }

  @Override
  public void beginPass() {
    valueCodebooks = null;
    sumScorer.beginPass();
    tableScorer.beginPass();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    CommvqPage quantized = (CommvqPage) page;
    KeyScorer keys = quantized.reading() == KeyScoring.TABLES ? tableScorer : sumScorer;
    keys.score(quantized, kvHead, queries, rows, scores);
  }

  @Override
  public void accumulate(
      Page page, int kvHead, float[] probabilities, int rows, float[] accumulator) {
    CommvqPage quantized = (CommvqPage) page;
    if (valueCodebooks == null) {
      beginAccumulation(quantized.layerCodebooks(), kvHead, rows);
    }
    quantized.readValueScales(kernels, scales);
    for (int row = 0; row < rows; row++) {
      inverseScale[row] = 1 / pendingScale[row];
    }
    kernels
        .codebooks()
        .tokenWeights(probabilities, rows, inverseScale, scales, lanes, totals, weights);
    int sets = quantized.layerCodebooks().valueSets();
    if (quantized.layerCodebooks().hasValueBits()) {
      quantized.readValueBits(indices);
      kernels.codebooks().addToSetBits(indices, sets, weights, lanes, bins);
    } else {
      quantized.readValues(kernels, kvHead, indices);
      kernels.codebooks().scatterAdd(indices, sets, PAGE, weights, lanes, bins);
    }
  }

  private void beginAccumulation(CompactLayerCodebooks layerCodebooks, int kvHead, int rows) {
    valueCodebooks = layerCodebooks;
    valueHead = kvHead;
    lanes = rows <= 4 ? 4 : PageReader.MAX_ROWS;
    int count = layerCodebooks.valueRows();
    if (indices.length < layerCodebooks.valueSets() * PAGE) {
      indices = new byte[layerCodebooks.valueSets() * PAGE];
    }
    if (bins.length < count * lanes) {
      bins = new float[count * lanes];
      transposedBins = new float[count * PageReader.MAX_ROWS];
    }
    Arrays.fill(bins, 0, count * lanes, 0);
    Arrays.fill(weights, 0);
    Arrays.fill(totals, 0);
    Arrays.fill(pendingScale, 1);
  }

  /** Deferred weights remain unscaled; their scale is applied at the end of the pass. */
  @Override
  public void rescale(int row, float factor) {
    if (valueCodebooks == null) {
      return;
    }
    pendingScale[row] *= factor;
    if (pendingScale[row] < MIN_PENDING_SCALE) {
      scale(row, pendingScale[row]);
      pendingScale[row] = 1;
    }
  }

  private void scale(int row, float factor) {
    totals[row] *= factor;
    for (int at = row; at < valueCodebooks.valueRows() * lanes; at += lanes) {
      bins[at] *= factor;
    }
  }

  @Override
  public void endPass(int rows, float[] accumulator) {
    if (valueCodebooks == null) {
      return;
    }
    sumRows(rows);
    if (valueCodebooks.valueMeans().isEmpty()) {
      for (int i = 0; i < rows * valueDim; i++) {
        accumulator[i] += lowered[i] * (1 / LOWERED);
      }
    } else {
      addWithMean(rows, accumulator);
    }
  }

  private void addWithMean(int rows, float[] accumulator) {
    float[] mean = valueCodebooks.valueMeans().get(valueHead);
    for (int row = 0; row < rows; row++) {
      float total = totals[row] * pendingScale[row];
      for (int i = 0; i < valueDim; i++) {
        int at = row * valueDim + i;
        accumulator[at] += Math.fma(total, mean[i], lowered[at] * (1 / LOWERED));
      }
    }
  }

  private void sumRows(int rows) {
    int count = valueCodebooks.valueRows();
    for (int row = 0; row < rows; row++) {
      float factor = pendingScale[row] * LOWERED;
      for (int i = 0; i < count; i++) {
        transposedBins[row * count + i] = bins[i * lanes + row] * factor;
      }
    }
    Arrays.fill(lowered, 0, rows * valueDim, 0);
    DenseMatrix halves = valueCodebooks.values().get(valueHead);
    kernels
        .halves()
        .weightedSums(
            inputRows.set(transposedBins, rows, count),
            halves,
            0,
            outputRows.set(lowered, rows, valueDim));
  }

  /**
   * Adds up the rows of a key in integers, once for all query heads. Keys are rotated only by their
   * offset in the page; queries are rotated back by the page's position.
   */
  private static final class SummedKeyScorer implements KeyScorer {
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
}
