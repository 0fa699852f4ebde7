package dev.kvasir.codec.mead;

import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * A layer's block as quantized prediction residuals, in a {@link MeadPageLayout}. A few tokens, the
 * late sinks, stay unquantized; their codes are ignored.
 */
final class MeadPage implements PreRopePage {
  private final MeadTables tables;
  private final MeadRate rate;
  private final int layer;
  private final int position;
  private final BlockTokenIds tokens; // null if token ids are not needed
  private final LateSink[] sinks;
  private final SharedArena memory;
  private final MemorySegment data;

  private MeadPage(
      SharedArena memory,
      MeadTables tables,
      MeadRate rate,
      int layer,
      int position,
      BlockTokenIds tokens,
      List<LateSink> sinks) {
    this.tables = tables;
    this.rate = rate;
    this.layer = layer;
    this.position = position;
    this.tokens = tokens;
    this.sinks = sinks.toArray(LateSink[]::new);
    this.data = memory.allocate(layout().bytes());
    this.memory = memory.retain();
  }

  /**
   * Creates a page whose data is still to be written.
   *
   * @param tokens owned by the page until it is closed; null if token ids are not needed
   * @param sinks owned by the page until it is closed; released if allocating the page fails
   */
  static MeadPage of(
      SharedArena memory,
      MeadTables tables,
      MeadRate rate,
      int layer,
      int position,
      BlockTokenIds tokens,
      List<LateSink> sinks) {
    try {
      return new MeadPage(memory, tables, rate, layer, position, tokens, sinks);
    } catch (RuntimeException | Error e) {
      sinks.forEach(sink -> sink.rows().release());
      throw e;
    }
  }

  /** Creates a page for the same tokens at another rate, whose data is still to be written. */
  MeadPage emptyCopy(SharedArena other, MeadRate lower) {
    for (LateSink sink : sinks) {
      sink.rows().retain();
    }
    MeadPage page = of(other, tables, lower, layer, position, tokens, List.of(sinks));
    if (tokens != null) {
      tokens.retain();
    }
    return page;
  }

  MeadRate rate() {
    return rate;
  }

  LayerCodeLayout codes() {
    return rate.layers().get(layer);
  }

  private MeadPageLayout layout() {
    return codes().layout();
  }

  HeadTables head(int kvHead) {
    return tables.head(layer, kvHead);
  }

  /** Returns the page's bytes, which the quantizer writes. */
  MemorySegment data() {
    return data;
  }

  /** Returns the late sinks in rising token order. Callers must not change the array. */
  LateSink[] sinks() {
    return sinks;
  }

  /** Returns the token ids, or null if they are not needed. */
  BlockTokenIds tokens() {
    return tokens;
  }

  @Override
  public MeadTables tables() {
    return tables;
  }

  @Override
  public int layer() {
    return layer;
  }

  @Override
  public int position() {
    return position;
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(MeadReader.KIND);
  }

  @Override
  public void readKeys(Kernels kernels, MeadWorkspace meadWorkspace, int kvHead) {
    read(kernels, meadWorkspace, kvHead, KvSide.KEYS, head(kvHead).keyBase().lows());
  }

  /**
   * @param queries (rows, keyWidth), rotated back by the page's position
   * @param scores (rows, TOKENS), set
   */
  void score(
      Kernels kernels,
      MeadWorkspace meadWorkspace,
      int kvHead,
      float[] queries,
      int rows,
      float[] scores) {
    readRowOrder(kernels, meadWorkspace, kvHead, KvSide.KEYS);
    bindRows(meadWorkspace, kvHead, KvSide.KEYS, head(kvHead).keyBase().lows());
    RopeTable ropeTable = tables.ropeTable(layer);
    kernels
        .rowCodes()
        .products(
            meadWorkspace.codes,
            ropeTable.cosines(),
            ropeTable.sines(),
            queries,
            rows,
            meadWorkspace.vectors,
            scores);
  }

  /**
   * @param weights (rows, TOKENS), zero for unquantized tokens
   * @param accumulator components (rows, valueWidth), added to
   */
  void accumulate(
      Kernels kernels,
      MeadWorkspace meadWorkspace,
      int kvHead,
      float[] weights,
      int rows,
      float[] accumulator) {
    readRowOrder(kernels, meadWorkspace, kvHead, KvSide.VALUES);
    readLows(meadWorkspace, kvHead);
    bindRows(meadWorkspace, kvHead, KvSide.VALUES, meadWorkspace.lows);
    kernels
        .rowCodes()
        .weightedSums(meadWorkspace.codes, weights, rows, meadWorkspace.vectors, accumulator);
  }

  /** Binds the workspace's code block to a head's rows on the page. */
  private void bindRows(MeadWorkspace meadWorkspace, int kvHead, KvSide side, float[] lows) {
    meadWorkspace.codes.set(
        data,
        layout().rowsAt(kvHead, side),
        codes().heads().get(kvHead).of(side),
        head(kvHead).base(side),
        lows,
        meadWorkspace.order,
        meadWorkspace.tableRows);
  }

  /** Adds the page's mean error of components to the lows of the table rows. */
  private void readLows(MeadWorkspace meadWorkspace, int kvHead) {
    HeadTables head = head(kvHead);
    MeanErrors.read(head, tables.sizes(), data, layout().meansAt(kvHead), meadWorkspace.means);
    float[] lows = head.valueBase().lows();
    for (int i = 0; i < lows.length; i++) {
      meadWorkspace.lows[i] = lows[i] + meadWorkspace.means[i];
    }
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int count, float[] out) {
    PreRopePage.super.dequantizeKeys(workspace, kvHead, count, out);
    for (LateSink sink : sinks) {
      if (sink.token() < count) {
        sink.rows()
            .readKey(workspace.kernels(), kvHead, out, sink.token() * tables.sizes().keyDim());
      }
    }
  }

  /**
   * Dequantizes a head's value components without their mean error into {@link
   * MeadWorkspace#vectors} // (TOKENS, valueWidth), and reads the mean error. Components of
   * unquantized tokens are zero.
   */
  void readComponents(Kernels kernels, MeadWorkspace meadWorkspace, int kvHead) {
    read(kernels, meadWorkspace, kvHead, KvSide.VALUES, head(kvHead).valueBase().lows());
    int width = tables.sizes().valueWidth();
    for (LateSink sink : sinks) {
      Arrays.fill(meadWorkspace.vectors, sink.token() * width, (sink.token() + 1) * width, 0);
    }
    MeanErrors.read(
        head(kvHead), tables.sizes(), data, layout().meansAt(kvHead), meadWorkspace.means);
  }

  private void read(
      Kernels kernels, MeadWorkspace meadWorkspace, int kvHead, KvSide side, float[] lows) {
    readRowOrder(kernels, meadWorkspace, kvHead, side);
    if (side == KvSide.KEYS) {
      bindRows(meadWorkspace, kvHead, side, lows);
    } else {
      bindValueRows(meadWorkspace, kvHead, lows);
    }
    kernels.rowCodes().decode(meadWorkspace.codes, meadWorkspace.vectors);
  }

  /**
   * Binds the code block to a row-major copy of a head's values, which the page stores in columns.
   */
  private void bindValueRows(MeadWorkspace meadWorkspace, int kvHead, float[] lows) {
    HeadCodeLayout head = codes().heads().get(kvHead);
    MemorySegment rows = meadWorkspace.rows(head);
    ValueColumns.toRows(codes(), kvHead, data, rows, 0);
    meadWorkspace.codes.set(
        rows,
        0,
        head.values(),
        head(kvHead).valueBase(),
        lows,
        meadWorkspace.order,
        meadWorkspace.tableRows);
  }

  /** Reads which token each code row belongs to, and which table row predicts it. */
  private void readRowOrder(Kernels kernels, MeadWorkspace meadWorkspace, int kvHead, KvSide side) {
    if (!meadWorkspace.bind(this, kvHead)) {
      kernels
          .rowCodes()
          .orderRows(
              data,
              layout().tierMapAt(kvHead),
              tokens == null ? MemorySegment.NULL : tokens.bytes(),
              tables.tokenRows(),
              meadWorkspace.order,
              meadWorkspace.tableRows);
    }
    if (tables.kind() == TableKind.CENTROIDS) {
      readCentroids(meadWorkspace, kvHead, side);
    }
  }

  /** Stores the selected table rows, unless token ids determine them. */
  void writeTableRows(int kvHead, HeadEncodingScratch scratch) {
    for (KvSide side : KvSide.values()) {
      long at = layout().tableRowsAt(kvHead, side);
      for (int token = 0; tables.kind() == TableKind.CENTROIDS && token < TOKENS; token++) {
        data.set(ValueLayout.JAVA_BYTE, at + token, (byte) scratch.tableRows(side)[token]);
      }
    }
  }

  private void readCentroids(MeadWorkspace meadWorkspace, int kvHead, KvSide side) {
    long first = layout().tableRowsAt(kvHead, side);
    for (int row = 0; row < TOKENS; row++) {
      byte index = data.get(ValueLayout.JAVA_BYTE, first + meadWorkspace.order[row]);
      meadWorkspace.tableRows[row] = Byte.toUnsignedInt(index);
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int count, float[] out) {
    MeadSizes sizes = tables.sizes();
    MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, sizes);
    Kernels kernels = workspace.kernels();
    readLows(meadWorkspace, kvHead);
    read(kernels, meadWorkspace, kvHead, KvSide.VALUES, meadWorkspace.lows);
    int width = sizes.valueWidth();
    kernels
        .floats()
        .products(
            meadWorkspace.inputRows.set(meadWorkspace.vectors, count, width),
            meadWorkspace.vectorRows.set(head(kvHead).valueFrom(), sizes.valueDim(), width),
            meadWorkspace.outputRows.set(out, count, sizes.valueDim()));
    for (LateSink sink : sinks) {
      if (sink.token() < count) {
        sink.rows().readValue(kernels, kvHead, out, sink.token() * sizes.valueDim());
      }
    }
  }

  @Override
  public byte[] serialize() {
    return MeadPageSerializer.serialize(this);
  }

  /** Returns the bytes of the token ids, which only the first layer's page stores. */
  long tokenIdBytes() {
    return layer == 0 && tokens != null ? BlockTokenIds.BYTES : 0;
  }

  @Override
  public long codeBytes() {
    return layout().codeBytes();
  }

  @Override
  public long scaleBytes() {
    return layout().bytes() - layout().codeBytes() + tokenIdBytes();
  }

  /** Releases everything but the token ids. */
  void release() {
    for (LateSink sink : sinks) {
      sink.rows().release();
    }
    memory.release();
  }

  @Override
  public void close() {
    if (tokens != null) {
      tokens.release();
    }
    release();
  }
}
