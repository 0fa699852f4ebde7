package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.Lookups;
import dev.kvasir.codec.pattern.Labels;
import dev.kvasir.codec.pattern.PatternPage;
import dev.kvasir.codec.pattern.Patterns;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;

/**
 * Attention on pages of patterns and residuals, for a few query rows that share a KV head.
 * Residuals are looked up on their bits. A query's products with all patterns are made once in a
 * walk, and each key then looks up its own; weights of values are summed by pattern over all pages
 * of the walk, and the patterns are mixed once at its end.
 *
 * <p>Where patterns turn with their positions, a product depends on the position too: queries are
 * turned back by the page's first position, and each key's pattern is turned by its place on the
 * page, once for all rows.
 */
final class PatternLookups implements BlockReader {
  private static final int PAGE = PageWalk.PAGE;

  private final Kernels kernels;
  private final int headDim;
  private final UniformLookups residuals;
  private final byte[] indices = new byte[PAGE];
  private final PatternNumbers products = new PatternNumbers(); // of queries with patterns of keys
  private final PatternNumbers weights = new PatternNumbers(); // of patterns of values

  private float[] patterns = {}; // (patterns, headDim), of keys while a walk goes on
  private float[] turnedPatterns = {}; // (PAGE, headDim)
  private float[] turnedQueries = {}; // (rows, headDim)
  private float[] turnedScores = {}; // (rows, PAGE)

  private int known; // patterns of keys that the walk has met
  private Patterns mixedPatterns; // of values, null until the walk meets any
  private int mixedLayer;
  private int mixedHead;

  PatternLookups(Kernels kernels, int headDim, UniformLookups residuals) {
    this.kernels = kernels;
    this.headDim = headDim;
    this.residuals = residuals;
  }

  @Override
  public void begin() {
    known = 0;
    mixedPatterns = null;
  }

  @Override
  public boolean readsWholeBlocks() {
    return true;
  }

  @Override
  public void score(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] queries,
      int rows,
      float[] scores) {
    PatternPage page = (PatternPage) cache.page(layer, block);
    boolean exact = cache.lookups() == Lookups.EXACT;
    residuals.score(page.residuals(), kvHead, exact, queries, rows, scores);
    if (page.keys().isEmpty()) {
      return;
    }
    Labels labels = page.keys().get();
    labels.read(kvHead, indices);
    if (page.rotation().isPresent()) {
      meetTurning(cache, layer, kvHead, block, labels.patterns());
      addTurnedProducts(page.rotation().get(), page.position(), queries, rows, scores);
    } else {
      meet(cache, layer, kvHead, block, labels.patterns(), queries, rows);
      products.addTo(scores, indices, rows);
    }
  }

  /** Banks only grow along a walk, so products with what was met before stay right. */
  private void meet(
      KvCache cache, int layer, int kvHead, int block, Patterns met, float[] queries, int rows) {
    int before = known;
    if (before < met.count()) {
      expand(ahead(cache, layer, block, met), layer, kvHead);
      products.multiply(kernels, queries, rows, patterns, before, known, headDim);
    }
  }

  /**
   * The bank as it will be some pages on: to meet the patterns of a walk in one go costs less than
   * to meet them one by one.
   */
  private static Patterns ahead(KvCache cache, int layer, int block, Patterns met) {
    int last = Math.min(block + Attention.SPAN_PAGES - 1, cache.blockOf(cache.length() - 1));
    for (int later = last; later > block; later--) {
      if (cache.page(layer, later) instanceof PatternPage page && page.keys().isPresent()) {
        return page.keys().get().patterns();
      }
    }
    return met;
  }

  /** A bank lies in as many parts as it has grown by: expanded, it is computed on in one go. */
  private void expand(Patterns met, int layer, int kvHead) {
    if (patterns.length == 0) {
      patterns = new float[Patterns.MOST * headDim];
    }
    if (known < met.count()) {
      met.expand(kernels, layer, kvHead, known, patterns);
      known = met.count();
    }
  }

  private void meetTurning(KvCache cache, int layer, int kvHead, int block, Patterns met) {
    if (turnedPatterns.length == 0) {
      turnedPatterns = new float[PAGE * headDim];
      turnedQueries = new float[PageWalk.FEW_ROWS * headDim];
      turnedScores = new float[PageWalk.FEW_ROWS * PAGE];
    }
    if (known < met.count()) {
      expand(ahead(cache, layer, block, met), layer, kvHead);
    }
  }

  private void addTurnedProducts(
      Rotation rotation, int position, float[] queries, int rows, float[] scores) {
    System.arraycopy(queries, 0, turnedQueries, 0, rows * headDim);
    rotation.turn(turnedQueries, 0, headDim, rows, -position);
    Labels.gather(indices, PAGE, patterns, headDim, turnedPatterns);
    rotation.turnAlong(turnedPatterns, 0, headDim, PAGE);
    kernels.products(
        turnedQueries,
        0,
        headDim,
        rows,
        turnedPatterns,
        0,
        headDim,
        PAGE,
        headDim,
        turnedScores,
        0,
        PAGE);
    kernels.add(scores, 0, turnedScores, 0, rows * PAGE);
  }

  @Override
  public void mix(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] probabilities,
      int rows,
      float[] mixed) {
    PatternPage page = (PatternPage) cache.page(layer, block);
    boolean exact = cache.lookups() == Lookups.EXACT;
    residuals.mix(page.residuals(), kvHead, exact, probabilities, rows, mixed);
    if (page.values().isEmpty()) {
      return;
    }
    if (mixedPatterns == null) {
      weights.clear();
    }
    Labels labels = page.values().get();
    mixedPatterns = labels.patterns();
    mixedLayer = layer;
    mixedHead = kvHead;
    labels.read(kvHead, indices);
    weights.collect(probabilities, indices, rows);
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
      known = 0; // the room is now for patterns of values
      expand(mixedPatterns, mixedLayer, mixedHead);
      weights.mix(kernels, rows, patterns, known, headDim, mixed);
      mixedPatterns = null;
    }
  }
}
