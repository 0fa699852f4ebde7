package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RotaryCodes;
import java.util.Arrays;

/**
 * Attends to pages of codes, for a few query rows that share a KV head. {@link KeyScoring}
 * determines how keys are scored. Values are never decoded: {@link ValueBins} sums weights over all
 * pages of a pass, and multiplies them with codebook rows once at its end.
 */
final class CommvqReader implements PageReader {
  static final PageReaders.Kind<CommvqReader> KIND = new PageReaders.Kind<>(CommvqReader::new);

  private static final int PAGE = Page.TOKENS;

  /** Below this scale, deferred sums are rescaled before they lose precision. */
  private static final float MIN_PENDING_SCALE = 0x1p-40f;

  /** Sums of weights stay below 2^27, and sums of halves require weights below 2^15. */
  private static final float LOWERED = 0x1p-20f;

  private final PageReaders readers;
  private final int valueDim;
  private final KeyScorer sumScorer;
  private final KeyScorer tableScorer;
  private final float[] totals = new float[PageReader.MAX_ROWS]; // sum of the weights of all tokens
  private final float[] pendingScale = new float[PageReader.MAX_ROWS];
  private final float[] factors = new float[PageReader.MAX_ROWS]; // derived from pendingScale
  private final float[] lowered; // (rows, valueDim)
  private final ValueBins ownBins;
  private ValueBins bins; // those of the first head that this one passes with
  private CompactLayerCodebooks valueCodebooks; // null until the pass reaches any
  private int valueHead;
  private int place; // among the heads that share bins

  private CommvqReader(PageReaders readers) {
    this.readers = readers;
    this.valueDim = readers.valueDim();
    this.sumScorer = new SummedKeyScorer(readers.kernels());
    this.tableScorer = new TableKeyScorer(readers.kernels());
    this.ownBins = new ValueBins(readers.kernels());
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
      beginAccumulation(quantized, kvHead, rows);
    }
    for (int row = 0; row < rows; row++) {
      factors[row] = 1 / pendingScale[row];
    }
    bins.add(quantized, place, kvHead, probabilities, factors, totals);
  }

  private void beginAccumulation(CommvqPage page, int kvHead, int rows) {
    valueCodebooks = page.layerCodebooks();
    valueHead = kvHead;
    boolean shares = page.shareValueCodes(kvHead - readers.head(), readers.heads());
    place = shares ? readers.head() : 0;
    bins = shares ? readers.firstHead().of(KIND).ownBins : ownBins;
    if (place == 0) {
      bins.begin(valueCodebooks, shares ? readers.heads() : 1, rows);
    }
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
    bins.scale(place, row, factor);
  }

  @Override
  public void endPass(int rows, float[] accumulator) {
    if (valueCodebooks == null) {
      return;
    }
    for (int row = 0; row < rows; row++) {
      factors[row] = pendingScale[row] * LOWERED;
    }
    bins.weightedSums(place, valueHead, factors, valueDim, lowered);
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
