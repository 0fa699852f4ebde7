package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.uniform.UniformReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RotaryPatterns;
import dev.kvasir.kernel.TurnTable;
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

  private final ExpandedBank keyBank;
  private final PatternNumbers products = new PatternNumbers(); // of queries with patterns of keys
  private final float[] multiplied; // (rows, keyDim), the queries of those products
  private int multipliedBank; // changes of the bank at that time
  private int multipliedRows;
  private int multipliedCount; // patterns

  private TurnTable turning; // null until patterns turn
  private float[] arrangedQueries = {}; // (rows, turning.width())
  private final RotaryPatterns keyRows = new RotaryPatterns();

  private final ExpandedBank valueBank;
  private final PatternNumbers weights = new PatternNumbers(); // of patterns of values
  private Patterns mixedPatterns; // null until the walk meets any
  private int mixedLayer;
  private int mixedHead;

  private PatternkvReader(PageReaders readers) {
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.residuals = readers.of(UniformReader.KIND);
    this.keyBank = new ExpandedBank(keyDim);
    this.valueBank = new ExpandedBank(valueDim);
    this.multiplied = new float[PageReader.MOST_ROWS * keyDim];
  }

  @Override
  public void begin() {
    mixedPatterns = null;
  }

  /** Pages bring a pattern each, and the bank of the last one has those of all before it. */
  @Override
  public void foresee(Page page, int kvHead) {
    PatternkvPage last = (PatternkvPage) page;
    if (last.keyLabels() != null) {
      keyBank.show(kernels, last.keyLabels().patterns(), last.layer(), kvHead);
    }
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    PatternkvPage labelled = (PatternkvPage) page;
    residuals.score(labelled.residuals(), kvHead, queries, rows, scores);
    Labels labels = labelled.keyLabels();
    if (labels == null) {
      return;
    }
    keyBank.show(kernels, labels.patterns(), labelled.layer(), kvHead);
    PageTurn turn = labelled.turn();
    if (turn != null) {
      addTurnedProducts(turn, labels, kvHead, queries, rows, scores);
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
        multipliedBank == keyBank.changes()
            && rows == multipliedRows
            && Arrays.equals(queries, 0, length, multiplied, 0, length);
    if (!known) {
      System.arraycopy(queries, 0, multiplied, 0, length);
      multipliedBank = keyBank.changes();
      multipliedRows = rows;
      multipliedCount = 0;
    }
    if (multipliedCount < keyBank.count()) {
      products.multiply(
          kernels, queries, rows, keyBank.patterns(), multipliedCount, keyBank.count(), keyDim);
      multipliedCount = keyBank.count();
    }
  }

  private void addTurnedProducts(
      PageTurn turn, Labels labels, int kvHead, float[] queries, int rows, float[] scores) {
    TurnTable table = turn.table();
    makeRoom(table);
    float[] arranged = queries;
    if (!table.keepsOrder()) {
      table.arrange(queries, 0, rows, arrangedQueries, 0);
      arranged = arrangedQueries;
    }
    keyRows.set(keyBank.rows(table), table.fan(), table.pairs());
    MemorySegment picked = labels.indices();
    long pickedAt = labels.offset(kvHead);
    kernels
        .patterns()
        .turningProducts(arranged, rows, turn.back(), keyRows, picked, pickedAt, scores);
  }

  private void makeRoom(TurnTable table) {
    if (turning != table) {
      turning = table;
      arrangedQueries = new float[PageReader.MOST_ROWS * table.width()];
    }
  }

  @Override
  public void mix(Page page, int kvHead, float[] probabilities, int rows, float[] mixed) {
    PatternkvPage labelled = (PatternkvPage) page;
    residuals.mix(labelled.residuals(), kvHead, probabilities, rows, mixed);
    Labels labels = labelled.valueLabels();
    if (labels == null) {
      return;
    }
    if (mixedPatterns == null) {
      weights.clear();
    }
    mixedPatterns = labels.patterns();
    mixedLayer = labelled.layer();
    mixedHead = kvHead;
    weights.collect(kernels, probabilities, labels, kvHead, rows);
  }

  @Override
  public void shrink(int row, float factor) {
    if (mixedPatterns != null) {
      weights.scale(row, mixedPatterns.count(), factor);
    }
  }

  /** The bank of the last page has the patterns of all pages before it. */
  @Override
  public void end(int rows, float[] mixed) {
    if (mixedPatterns != null) {
      valueBank.show(kernels, mixedPatterns, mixedLayer, mixedHead);
      weights.mix(kernels, rows, valueBank.patterns(), mixedPatterns.count(), valueDim, mixed);
      mixedPatterns = null;
    }
  }
}
