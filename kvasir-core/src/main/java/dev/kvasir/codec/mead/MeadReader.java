package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Computes attention on Mead pages, for a few query rows that share a KV head. A key is dequantized
 * once for all rows and rotated by its index on the page; queries are rotated back by the page's
 * position instead. Values are accumulated as components and transformed back once at the end of a
 * pass.
 */
final class MeadReader implements PageReader {
  static final PageReaders.Kind<MeadReader> KIND = new PageReaders.Kind<>(MeadReader::new);

  private static final int PAGE = Page.TOKENS;

  private final PageWorkspace workspace;
  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private float[] unrotated = {}; // (rows, keyWidth)
  private float[] components = {}; // (rows, valueWidth), accumulated until the end of a pass
  private final float[] values; // (rows, valueDim)
  private float[] sinkWeights = {}; // (sinks, rows)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private HeadTables accumulatorHead; // null while nothing is accumulated
  private int accumulatorWidth;

  private MeadReader(PageReaders readers) {
    this.workspace = readers.workspace();
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.values = new float[PageReader.MAX_ROWS * valueDim];
  }

  @Override
  public void beginPass() {
    accumulatorHead = null;
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    PreRopePage known = (PreRopePage) page;
    MeadTables tables = known.tables();
    MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, tables.sizes());
    int width = tables.sizes().keyWidth();
    unrotate(known, queries, rows, width);
    switch (known) {
      case MeadPage quantized -> {
        quantized.score(kernels, meadWorkspace, kvHead, unrotated, rows, scores);
        scoreSinks(quantized, meadWorkspace, kvHead, queries, rows, scores);
      }
      case TokenIdPage tokens -> {
        tokens.readKeys(kernels, meadWorkspace, kvHead);
        tables.ropeTable(tokens.layer()).rotateEach(kernels, meadWorkspace.vectors, PAGE);
        kernels
            .floats()
            .products(
                inputRows.set(unrotated, rows, width),
                vectorRows.set(meadWorkspace.vectors, PAGE, width),
                outputRows.set(scores, rows, PAGE));
      }
    }
  }

  /** Overwrites the scores of unquantized tokens. */
  private void scoreSinks(
      MeadPage page,
      MeadWorkspace meadWorkspace,
      int kvHead,
      float[] queries,
      int rows,
      float[] scores) {
    for (LateSink sink : page.sinks()) {
      sink.rows().readKey(kernels, kvHead, meadWorkspace.exact, 0);
      kernels
          .floats()
          .products(
              inputRows.set(queries, rows, keyDim),
              vectorRows.set(meadWorkspace.exact, 1, keyDim),
              outputRows.set(scores, sink.token(), PAGE, rows, 1));
    }
  }

  private void unrotate(PreRopePage page, float[] queries, int rows, int width) {
    if (unrotated.length < PageReader.MAX_ROWS * width) {
      unrotated = new float[PageReader.MAX_ROWS * width];
    }
    MeadTables tables = page.tables();
    RopeTable table = tables.ropeTable(page.layer());
    table.toPairOrder(queries, 0, rows, unrotated, 0);
    MeadWorkspace.of(workspace, tables.sizes())
        .rotation(table)
        .rotate(kernels, unrotated, rows, tables.rotation(page.layer()), -page.position());
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
    switch ((PreRopePage) page) {
      case MeadPage quantized -> {
        accumulateComponents(quantized, kvHead, weights, rows);
        accumulateSinks(quantized, kvHead, weights, rows, accumulator);
      }
      case TokenIdPage tokens -> {
        MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, tokens.tables().sizes());
        tokens.readValues(kernels, meadWorkspace, kvHead, PAGE, meadWorkspace.vectors);
        kernels
            .floats()
            .weightedSums(
                inputRows.set(weights, rows, PAGE),
                vectorRows.set(meadWorkspace.vectors, PAGE, valueDim),
                outputRows.set(accumulator, rows, valueDim));
      }
    }
  }

  private void accumulateComponents(MeadPage page, int kvHead, float[] weights, int rows) {
    MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, page.tables().sizes());
    beginAccumulation(page.head(kvHead), page.tables().sizes().valueWidth(), rows);
    maskSinkWeights(page, weights, rows);
    page.accumulate(kernels, meadWorkspace, kvHead, weights, rows, components);
    restoreSinkWeights(page, weights, rows);
  }

  /** Zeroes the weights of unquantized tokens, whose codes must not count. */
  private void maskSinkWeights(MeadPage page, float[] weights, int rows) {
    int count = page.sinks().length;
    if (sinkWeights.length < count * rows) {
      sinkWeights = new float[count * PageReader.MAX_ROWS];
    }
    for (int i = 0; i < count * rows; i++) {
      int at = i % rows * PAGE + page.sinks()[i / rows].token();
      sinkWeights[i] = weights[at];
      weights[at] = 0;
    }
  }

  private void restoreSinkWeights(MeadPage page, float[] weights, int rows) {
    for (int i = 0; i < page.sinks().length * rows; i++) {
      weights[i % rows * PAGE + page.sinks()[i / rows].token()] = sinkWeights[i];
    }
  }

  private void accumulateSinks(
      MeadPage page, int kvHead, float[] weights, int rows, float[] accumulator) {
    MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, page.tables().sizes());
    for (LateSink sink : page.sinks()) {
      sink.rows().readValue(kernels, kvHead, meadWorkspace.exact, 0);
      kernels
          .floats()
          .weightedSums(
              inputRows.set(weights, sink.token(), PAGE, rows, 1),
              vectorRows.set(meadWorkspace.exact, 1, valueDim),
              outputRows.set(accumulator, rows, valueDim));
    }
  }

  private void beginAccumulation(HeadTables head, int width, int rows) {
    if (accumulatorHead != null) {
      return;
    }
    if (components.length < PageReader.MAX_ROWS * width) {
      components = new float[PageReader.MAX_ROWS * width];
    }
    Arrays.fill(components, 0, rows * width, 0);
    accumulatorHead = head;
    accumulatorWidth = width;
  }

  @Override
  public void rescale(int row, float factor) {
    if (accumulatorHead != null) {
      kernels.rows().scale(components, row * accumulatorWidth, accumulatorWidth, factor);
    }
  }

  @Override
  public void endPass(int rows, float[] accumulator) {
    if (accumulatorHead == null) {
      return;
    }
    kernels
        .floats()
        .products(
            inputRows.set(components, rows, accumulatorWidth),
            vectorRows.set(accumulatorHead.valueFrom(), valueDim, accumulatorWidth),
            outputRows.set(values, rows, valueDim));
    kernels.rows().add(accumulator, 0, values, 0, rows * valueDim);
    accumulatorHead = null;
  }
}
