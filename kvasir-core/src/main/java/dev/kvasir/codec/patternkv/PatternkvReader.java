package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.UniformReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RotaryPatterns;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Attends to pages of patterns and residuals, for a few query rows that share a KV head. Residuals
 * are multiplied on their codes. The products of a query with all patterns are computed once, and
 * each key looks up its own. Weights of values are summed per pattern over all pages of a pass, and
 * multiplied with the patterns once at its end.
 *
 * <p>If patterns rotate with positions, the products depend on the position too. Rotating a query
 * back is equivalent to rotating a pattern. So queries are rotated back by a page's first position
 * and then by a few tokens at a time; a token's pattern is rotated by the remaining offset.
 */
final class PatternkvReader implements PageReader {
  static final PageReaders.Kind<PatternkvReader> KIND =
      new PageReaders.Kind<>(PatternkvReader::new);

  private static final int PAGE = Page.TOKENS;

  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private final UniformReader residuals;
  private final byte[] indices = new byte[PAGE];

  private final FloatPatternCache keyBank;
  private final PatternTable products = new PatternTable(); // of queries with key patterns
  private final float[] cachedQueries; // (rows, keyDim), the queries of those products
  private int cachedGeneration; // generation of the bank at that time
  private int cachedRows;
  private int cachedPatterns; // number of patterns

  private RopeTable ropeTable; // null until patterns rotate
  private float[] arrangedQueries = {}; // (rows, ropeTable.width())
  private final RotaryPatterns keyRows = new RotaryPatterns();

  private final FloatPatternCache valueBank;
  private final PatternTable weights = new PatternTable(); // of value patterns
  private PatternSet valuePatterns; // null until the pass reaches any
  private int valueLayer;
  private int valueHead;

  private PatternkvReader(PageReaders readers) {
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.residuals = readers.of(UniformReader.KIND);
    this.keyBank = new FloatPatternCache(keyDim);
    this.valueBank = new FloatPatternCache(valueDim);
    this.cachedQueries = new float[PageReader.MAX_ROWS * keyDim];
  }

  @Override
  public void beginPass() {
    valuePatterns = null;
  }

  /**
   * Loads the last page's bank. Each page adds a pattern, so the last bank contains all earlier
   * ones.
   */
  @Override
  public void prefetch(Page page, int kvHead) {
    PatternkvPage last = (PatternkvPage) page;
    if (last.keyLabels() != null) {
      keyBank.load(kernels, last.keyLabels().patterns(), last.layer(), kvHead);
    }
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    PatternkvPage labelled = (PatternkvPage) page;
    residuals.score(labelled.residuals(), kvHead, queries, rows, scores);
    PatternLabels labels = labelled.keyLabels();
    if (labels == null) {
      return;
    }
    keyBank.load(kernels, labels.patterns(), labelled.layer(), kvHead);
    PageRotation pageRotation = labelled.pageRotation();
    if (pageRotation != null) {
      addRotatedProducts(pageRotation, labels, kvHead, queries, rows, scores);
    } else {
      labels.read(kvHead, indices);
      multiply(queries, rows);
      products.addTo(scores, indices, rows);
    }
  }

  /** Passes of a step have the same queries, so earlier products remain valid. */
  private void multiply(float[] queries, int rows) {
    int length = rows * keyDim;
    boolean known =
        cachedGeneration == keyBank.generation()
            && rows == cachedRows
            && Arrays.equals(queries, 0, length, cachedQueries, 0, length);
    if (!known) {
      System.arraycopy(queries, 0, cachedQueries, 0, length);
      cachedGeneration = keyBank.generation();
      cachedRows = rows;
      cachedPatterns = 0;
    }
    if (cachedPatterns < keyBank.count()) {
      products.multiply(
          kernels, queries, rows, keyBank.patterns(), cachedPatterns, keyBank.count(), keyDim);
      cachedPatterns = keyBank.count();
    }
  }

  private void addRotatedProducts(
      PageRotation pageRotation,
      PatternLabels labels,
      int kvHead,
      float[] queries,
      int rows,
      float[] scores) {
    RopeTable table = pageRotation.table();
    ensureCapacity(table);
    float[] arranged = queries;
    if (!table.hasModelOrder()) {
      table.toPairOrder(queries, 0, rows, arrangedQueries, 0);
      arranged = arrangedQueries;
    }
    keyRows.set(keyBank.rows(table), table.offsetAngles(), table.pairs());
    MemorySegment picked = labels.indices();
    long pickedAt = labels.offset(kvHead);
    kernels
        .patterns()
        .rotatedProducts(
            arranged, rows, pageRotation.inverseAngles(), keyRows, picked, pickedAt, scores);
  }

  private void ensureCapacity(RopeTable table) {
    if (ropeTable != table) {
      ropeTable = table;
      arrangedQueries = new float[PageReader.MAX_ROWS * table.width()];
    }
  }

  @Override
  public void accumulate(
      Page page, int kvHead, float[] probabilities, int rows, float[] accumulator) {
    PatternkvPage labelled = (PatternkvPage) page;
    residuals.accumulate(labelled.residuals(), kvHead, probabilities, rows, accumulator);
    PatternLabels labels = labelled.valueLabels();
    if (labels == null) {
      return;
    }
    if (valuePatterns == null) {
      weights.clear();
    }
    valuePatterns = labels.patterns();
    valueLayer = labelled.layer();
    valueHead = kvHead;
    weights.collect(kernels, probabilities, labels, kvHead, rows);
  }

  @Override
  public void rescale(int row, float factor) {
    if (valuePatterns != null) {
      weights.scale(row, valuePatterns.count(), factor);
    }
  }

  /** The bank of the last page contains the patterns of all earlier pages. */
  @Override
  public void endPass(int rows, float[] accumulator) {
    if (valuePatterns != null) {
      valueBank.load(kernels, valuePatterns, valueLayer, valueHead);
      weights.accumulate(
          kernels, rows, valueBank.patterns(), valuePatterns.count(), valueDim, accumulator);
      valuePatterns = null;
    }
  }
}
