package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Attention on pages of this method, for a few query rows that share a KV head. A key is made once
 * for all of them, and turned by its place on the page only: queries are turned back by the page's
 * position. Values stay components: they are mixed as such, and what comes of a walk is changed
 * back once at its end.
 */
final class MeadReader implements PageReader {
  static final PageReaders.Kind<MeadReader> KIND = new PageReaders.Kind<>(MeadReader::new);

  private static final int PAGE = Page.TOKENS;

  private final PageRoom worker;
  private final Kernels kernels;
  private final int keyDim;
  private final int valueDim;
  private float[] arranged = {}; // (rows, keyWidth)
  private float[] components = {}; // (rows, valueWidth), held until the end
  private final float[] values; // (rows, valueDim)
  private float[] sinkWeights = {}; // (sinks, rows)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private HeadTables mixedHead; // of what is held, null where nothing is
  private int mixedWidth;

  private MeadReader(PageReaders readers) {
    this.worker = readers.room();
    this.kernels = readers.kernels();
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.values = new float[PageReader.MOST_ROWS * valueDim];
  }

  @Override
  public void begin() {
    mixedHead = null;
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    TurningPage known = (TurningPage) page;
    MeadTables tables = known.tables();
    MeadRoom room = MeadRoom.of(worker, tables.sizes());
    int width = tables.sizes().keyWidth();
    turnBack(known, queries, rows, width);
    switch (known) {
      case MeadPage coded -> {
        coded.score(kernels, room, kvHead, arranged, rows, scores);
        scoreSinks(coded, room, kvHead, queries, rows, scores);
      }
      case TokenPage tokens -> {
        tokens.readKeys(kernels, room, kvHead);
        tables.turns().turnEach(kernels, room.vectors, PAGE);
        kernels
            .floats()
            .products(
                inputRows.set(arranged, rows, width),
                vectorRows.set(room.vectors, PAGE, width),
                outputRows.set(scores, rows, PAGE));
      }
    }
  }

  /** In the place of what their codes scored. */
  private void scoreSinks(
      MeadPage page, MeadRoom room, int kvHead, float[] queries, int rows, float[] scores) {
    for (LateSink sink : page.sinks()) {
      sink.rows().readKey(kernels, kvHead, room.exact, 0);
      kernels
          .floats()
          .products(
              inputRows.set(queries, rows, keyDim),
              vectorRows.set(room.exact, 1, keyDim),
              outputRows.set(scores, sink.token(), PAGE, rows, 1));
    }
  }

  private void turnBack(TurningPage page, float[] queries, int rows, int width) {
    if (arranged.length < PageReader.MOST_ROWS * width) {
      arranged = new float[PageReader.MOST_ROWS * width];
    }
    MeadTables tables = page.tables();
    tables.turns().arrange(queries, 0, rows, arranged, 0);
    MeadRoom.of(worker, tables.sizes())
        .turn(tables.turns())
        .turn(kernels, arranged, rows, tables.rotation(), -page.position());
  }

  @Override
  public void mix(Page page, int kvHead, float[] weights, int rows, float[] mixed) {
    switch ((TurningPage) page) {
      case MeadPage coded -> {
        mixComponents(coded, kvHead, weights, rows);
        mixSinks(coded, kvHead, weights, rows, mixed);
      }
      case TokenPage tokens -> {
        MeadRoom room = MeadRoom.of(worker, tokens.tables().sizes());
        tokens.readValues(kernels, room, kvHead, PAGE, room.vectors);
        kernels
            .floats()
            .weightedSums(
                inputRows.set(weights, rows, PAGE),
                vectorRows.set(room.vectors, PAGE, valueDim),
                outputRows.set(mixed, rows, valueDim));
      }
    }
  }

  private void mixComponents(MeadPage page, int kvHead, float[] weights, int rows) {
    MeadRoom room = MeadRoom.of(worker, page.tables().sizes());
    hold(page.head(kvHead), page.tables().sizes().valueWidth(), rows);
    takeSinks(page, weights, rows);
    page.mix(kernels, room, kvHead, weights, rows, components);
    putSinks(page, weights, rows);
  }

  /** Codes of tokens that stay exact weigh nothing. */
  private void takeSinks(MeadPage page, float[] weights, int rows) {
    int count = page.sinks().length;
    if (sinkWeights.length < count * rows) {
      sinkWeights = new float[count * PageReader.MOST_ROWS];
    }
    for (int i = 0; i < count * rows; i++) {
      int at = i % rows * PAGE + page.sinks()[i / rows].token();
      sinkWeights[i] = weights[at];
      weights[at] = 0;
    }
  }

  private void putSinks(MeadPage page, float[] weights, int rows) {
    for (int i = 0; i < page.sinks().length * rows; i++) {
      weights[i % rows * PAGE + page.sinks()[i / rows].token()] = sinkWeights[i];
    }
  }

  private void mixSinks(MeadPage page, int kvHead, float[] weights, int rows, float[] mixed) {
    MeadRoom room = MeadRoom.of(worker, page.tables().sizes());
    for (LateSink sink : page.sinks()) {
      sink.rows().readValue(kernels, kvHead, room.exact, 0);
      kernels
          .floats()
          .weightedSums(
              inputRows.set(weights, sink.token(), PAGE, rows, 1),
              vectorRows.set(room.exact, 1, valueDim),
              outputRows.set(mixed, rows, valueDim));
    }
  }

  private void hold(HeadTables head, int width, int rows) {
    if (mixedHead != null) {
      return;
    }
    if (components.length < PageReader.MOST_ROWS * width) {
      components = new float[PageReader.MOST_ROWS * width];
    }
    Arrays.fill(components, 0, rows * width, 0);
    mixedHead = head;
    mixedWidth = width;
  }

  @Override
  public void shrink(int row, float factor) {
    if (mixedHead != null) {
      kernels.rows().scale(components, row * mixedWidth, mixedWidth, factor);
    }
  }

  @Override
  public void end(int rows, float[] mixed) {
    if (mixedHead == null) {
      return;
    }
    kernels
        .floats()
        .products(
            inputRows.set(components, rows, mixedWidth),
            vectorRows.set(mixedHead.valueFrom(), valueDim, mixedWidth),
            outputRows.set(values, rows, valueDim));
    kernels.rows().add(mixed, 0, values, 0, rows * valueDim);
    mixedHead = null;
  }
}
