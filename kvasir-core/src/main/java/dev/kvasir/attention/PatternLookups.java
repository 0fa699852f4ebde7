package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.Lookups;
import dev.kvasir.codec.pattern.Labels;
import dev.kvasir.codec.pattern.PatternPage;
import dev.kvasir.codec.pattern.Patterns;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import java.util.Arrays;

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

  /** One for each index of a byte, {@link Patterns#NONE} included, which stays zero. */
  private static final int INDICES = Patterns.MOST + 1;

  private final Kernels kernels;
  private final int headDim;
  private final UniformLookups residuals;
  private final byte[] indices = new byte[PAGE];
  private final float[] products = new float[PageWalk.FEW_ROWS * INDICES]; // (rows, indices)
  private final float[] weights = new float[PageWalk.FEW_ROWS * INDICES]; // (rows, indices)

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
      meetTurning(labels.patterns(), layer, kvHead);
      addTurnedProducts(page.rotation().get(), page.position(), queries, rows, scores);
    } else {
      meet(labels.patterns(), layer, kvHead, queries, rows);
      addProducts(rows, scores);
    }
  }

  /** Banks only grow along a walk, so products with what was met before stay right. */
  private void meet(Patterns met, int layer, int kvHead, float[] queries, int rows) {
    int before = known;
    expand(met, layer, kvHead);
    if (before < known) {
      kernels.products(
          queries,
          0,
          headDim,
          rows,
          patterns,
          before * headDim,
          headDim,
          known - before,
          headDim,
          products,
          before,
          INDICES);
    }
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

  private void addProducts(int rows, float[] scores) {
    for (int row = 0; row < rows; row++) {
      products[row * INDICES + Patterns.NONE] = 0;
      for (int token = 0; token < PAGE; token++) {
        scores[row * PAGE + token] += products[row * INDICES + (indices[token] & 0xFF)];
      }
    }
  }

  private void meetTurning(Patterns met, int layer, int kvHead) {
    if (turnedPatterns.length == 0) {
      turnedPatterns = new float[PAGE * headDim];
      turnedQueries = new float[PageWalk.FEW_ROWS * headDim];
      turnedScores = new float[PageWalk.FEW_ROWS * PAGE];
    }
    expand(met, layer, kvHead);
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
      Arrays.fill(weights, 0, rows * INDICES, 0);
    }
    Labels labels = page.values().get();
    mixedPatterns = labels.patterns();
    mixedLayer = layer;
    mixedHead = kvHead;
    labels.read(kvHead, indices);
    for (int row = 0; row < rows; row++) {
      for (int token = 0; token < PAGE; token++) {
        weights[row * INDICES + (indices[token] & 0xFF)] += probabilities[row * PAGE + token];
      }
    }
  }

  @Override
  public void shrink(int row, float factor) {
    if (mixedPatterns != null) {
      kernels.scale(weights, row * INDICES, INDICES, factor);
    }
  }

  /** The bank of the last page has the patterns of all pages before it. */
  @Override
  public void end(int rows, float[] mixed) {
    if (mixedPatterns != null) {
      known = 0; // the room is now for patterns of values
      expand(mixedPatterns, mixedLayer, mixedHead);
      kernels.weightedSums(
          weights, 0, INDICES, rows, patterns, 0, headDim, known, headDim, mixed, 0, headDim);
      mixedPatterns = null;
    }
  }
}
