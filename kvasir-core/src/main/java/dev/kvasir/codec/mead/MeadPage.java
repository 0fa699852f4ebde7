package dev.kvasir.codec.mead;

import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.TurnTable;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * A layer's tokens as codes of what tables leave of them, laid out as {@link MeadShape} says. A few
 * may stay as they came: their codes count for nothing.
 */
final class MeadPage implements TurningPage {
  private final MeadTables tables;
  private final MeadRate rate;
  private final int layer;
  private final int position;
  private final BlockTokens tokens; // null where they need not be known
  private final LateSink[] sinks;
  private final SharedArena memory;
  private final MemorySegment data;

  private MeadPage(
      SharedArena memory,
      MeadTables tables,
      MeadRate rate,
      int layer,
      int position,
      BlockTokens tokens,
      List<LateSink> sinks) {
    this.tables = tables;
    this.rate = rate;
    this.layer = layer;
    this.position = position;
    this.tokens = tokens;
    this.sinks = sinks.toArray(LateSink[]::new);
    this.data = memory.allocate(shape().bytes());
    this.memory = memory.retain();
  }

  /**
   * A page that is yet to be written.
   *
   * @param tokens held until the page is closed; null where they need not be known
   * @param sinks held until the page is closed, and let go where there is no memory for it
   */
  static MeadPage of(
      SharedArena memory,
      MeadTables tables,
      MeadRate rate,
      int layer,
      int position,
      BlockTokens tokens,
      List<LateSink> sinks) {
    try {
      return new MeadPage(memory, tables, rate, layer, position, tokens, sinks);
    } catch (RuntimeException | Error e) {
      sinks.forEach(sink -> sink.rows().release());
      throw e;
    }
  }

  /** A page of the same tokens at another rate that is yet to be written. */
  MeadPage blank(SharedArena other, MeadRate lower) {
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

  LayerCodes codes() {
    return rate.layers().get(layer);
  }

  private MeadShape shape() {
    return codes().shape();
  }

  HeadTables head(int kvHead) {
    return tables.head(layer, kvHead);
  }

  /** What is to be written by whoever packs it. */
  MemorySegment data() {
    return data;
  }

  /** In rising order; not to be changed. */
  LateSink[] sinks() {
    return sinks;
  }

  /** Null where they need not be known. */
  BlockTokens tokens() {
    return tokens;
  }

  @Override
  public MeadTables tables() {
    return tables;
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
  public void readKeys(Kernels kernels, MeadRoom room, int kvHead) {
    read(kernels, room, kvHead, Side.KEYS, head(kvHead).keyBase().lows());
  }

  /**
   * @param queries (rows, keyWidth), turned back by the page's position
   * @param scores (rows, TOKENS), set
   */
  void score(
      Kernels kernels, MeadRoom room, int kvHead, float[] queries, int rows, float[] scores) {
    arrange(room, kvHead, Side.KEYS);
    point(room, kvHead, Side.KEYS, head(kvHead).keyBase().lows());
    TurnTable turns = tables.turns();
    kernels
        .rowCodes()
        .products(room.codes, turns.cosines(), turns.sines(), queries, rows, room.vectors, scores);
  }

  /**
   * @param weights (rows, TOKENS), zero for tokens that stay exact
   * @param mixed components (rows, valueWidth), added to
   */
  void mix(Kernels kernels, MeadRoom room, int kvHead, float[] weights, int rows, float[] mixed) {
    arrange(room, kvHead, Side.VALUES);
    readLows(room, kvHead);
    point(room, kvHead, Side.VALUES, room.lows);
    kernels.rowCodes().weightedSums(room.codes, weights, rows, room.vectors, mixed);
  }

  /** Points to a head's rows as they lie on the page. */
  private void point(MeadRoom room, int kvHead, Side side, float[] lows) {
    room.codes.set(
        data,
        shape().rowsAt(kvHead, side),
        codes().heads().get(kvHead).of(side),
        head(kvHead).base(side),
        lows,
        room.order,
        room.picks);
  }

  /** What a page's components are wrong by on the whole lies under all of their rows. */
  private void readLows(MeadRoom room, int kvHead) {
    HeadTables head = head(kvHead);
    MeanErrors.read(head, tables.sizes(), data, shape().meansAt(kvHead), room.means);
    float[] lows = head.valueBase().lows();
    for (int i = 0; i < lows.length; i++) {
      room.lows[i] = lows[i] + room.means[i];
    }
  }

  @Override
  public void expandKeys(PageRoom worker, int kvHead, int count, float[] out) {
    TurningPage.super.expandKeys(worker, kvHead, count, out);
    for (LateSink sink : sinks) {
      if (sink.token() < count) {
        sink.rows().readKey(worker.kernels(), kvHead, out, sink.token() * tables.sizes().keyDim());
      }
    }
  }

  /**
   * Makes the components of a head's values, without their mean error, and reads that: {@link
   * MeadRoom#vectors} // (TOKENS, valueWidth). Tokens that stay exact have none.
   */
  void readComponents(Kernels kernels, MeadRoom room, int kvHead) {
    read(kernels, room, kvHead, Side.VALUES, head(kvHead).valueBase().lows());
    int width = tables.sizes().valueWidth();
    for (LateSink sink : sinks) {
      Arrays.fill(room.vectors, sink.token() * width, (sink.token() + 1) * width, 0);
    }
    MeanErrors.read(head(kvHead), tables.sizes(), data, shape().meansAt(kvHead), room.means);
  }

  private void read(Kernels kernels, MeadRoom room, int kvHead, Side side, float[] lows) {
    arrange(room, kvHead, side);
    if (side == Side.KEYS) {
      point(room, kvHead, side, lows);
    } else {
      pointToRows(room, kvHead, lows);
    }
    kernels.rowCodes().decode(room.codes, room.vectors);
  }

  /** Points to the rows of a head's values, which lie in columns on the page. */
  private void pointToRows(MeadRoom room, int kvHead, float[] lows) {
    HeadCodes head = codes().heads().get(kvHead);
    MemorySegment rows = room.rows(head);
    ValueColumns.toRows(codes(), kvHead, data, rows, 0);
    room.codes.set(rows, 0, head.values(), head(kvHead).valueBase(), lows, room.order, room.picks);
  }

  /** Makes out which token each row of codes belongs to, and which row of the table. */
  private void arrange(MeadRoom room, int kvHead, Side side) {
    boolean isKnown = room.has(this, kvHead);
    if (!isKnown) {
      ClassMap.read(data, shape().mapAt(kvHead), room.order);
    }
    if (!isKnown || tables.kind() == TableKind.CENTROIDS) {
      readPicks(room, kvHead, side);
    }
  }

  /** Keeps which rows of tables were taken off, where that does not follow from tokens. */
  void writePicks(int kvHead, HeadTokens known) {
    for (Side side : Side.values()) {
      long at = shape().picksAt(kvHead, side);
      for (int token = 0; tables.kind() == TableKind.CENTROIDS && token < TOKENS; token++) {
        data.set(ValueLayout.JAVA_BYTE, at + token, (byte) known.picks(side)[token]);
      }
    }
  }

  private void readPicks(MeadRoom room, int kvHead, Side side) {
    int[] picks = room.picks;
    switch (tables.kind()) {
      case TOKENS -> {
        tokens.read(room.ids);
        for (int row = 0; row < TOKENS; row++) {
          picks[row] = tables.row(room.ids[room.order[row]]);
        }
      }
      case CENTROIDS -> {
        for (int row = 0; row < TOKENS; row++) {
          picks[row] = pick(kvHead, side, room.order[row]);
        }
      }
      case OFF -> Arrays.fill(picks, 0);
    }
  }

  private int pick(int kvHead, Side side, int token) {
    long at = shape().picksAt(kvHead, side) + token;
    return Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, at));
  }

  @Override
  public void expandValues(PageRoom worker, int kvHead, int count, float[] out) {
    MeadSizes sizes = tables.sizes();
    MeadRoom room = MeadRoom.of(worker, sizes);
    Kernels kernels = worker.kernels();
    readLows(room, kvHead);
    read(kernels, room, kvHead, Side.VALUES, room.lows);
    int width = sizes.valueWidth();
    kernels
        .floats()
        .products(
            room.inputRows.set(room.vectors, count, width),
            room.vectorRows.set(head(kvHead).valueFrom(), sizes.valueDim(), width),
            room.outputRows.set(out, count, sizes.valueDim()));
    for (LateSink sink : sinks) {
      if (sink.token() < count) {
        sink.rows().readValue(kernels, kvHead, out, sink.token() * sizes.valueDim());
      }
    }
  }

  @Override
  public byte[] form() {
    return MeadForm.of(this);
  }

  /** Ids belong to the first layer's page, and are not stored again with others. */
  long idBytes() {
    return layer == 0 && tokens != null ? BlockTokens.BYTES : 0;
  }

  @Override
  public long codeBytes() {
    return shape().codeBytes();
  }

  @Override
  public long scaleBytes() {
    return shape().bytes() - shape().codeBytes() + idBytes();
  }

  /** Lets go of all but its tokens' ids. */
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
