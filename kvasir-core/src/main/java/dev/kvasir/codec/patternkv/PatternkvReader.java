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
 * Attention on pages of patterns and residuals, for a few query rows that share a KV head.
 * Residuals are summed on their bits. A query's products with all patterns are made once, and each
 * key then looks up its own; weights of values are summed by pattern over all pages of the walk,
 * and the patterns are mixed once at its end.
 *
 * <p>Where patterns turn with their positions, a product depends on the position too. Turning a
 * query back is as good as turning a pattern: queries are turned back by a page's first position
 * and then by a few tokens at a time, and a token's pattern by what is missing to its place.
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
  private final PatternTable products = new PatternTable(); // of queries with patterns of keys
  private final float[] cachedQueries; // (rows, keyDim), the queries of those products
  private int cachedGeneration; // changes of the bank at that time
  private int cachedRows;
  private int cachedPatterns; // patterns

  private RopeTable ropeTable; // null until patterns turn
  private float[] arrangedQueries = {}; // (rows, turning.width())
  private final RotaryPatterns keyRows = new RotaryPatterns();

  private final FloatPatternCache valueBank;
  private final PatternTable weights = new PatternTable(); // of patterns of values
  private PatternSet valuePatterns; // null until the walk meets any
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

  /** Pages bring a pattern each, and the bank of the last one has those of all before it. */
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

  /** The walks of a step ask with the same queries: what was multiplied before stays right. */
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

  /** The bank of the last page has the patterns of all pages before it. */
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
