package dev.kvasir.codec.mead;

import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.Kernels;
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
    read(kernels, room, kvHead, Side.KEYS);
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
    read(kernels, room, kvHead, Side.VALUES);
    int width = tables.sizes().valueWidth();
    for (LateSink sink : sinks) {
      Arrays.fill(room.vectors, sink.token() * width, (sink.token() + 1) * width, 0);
    }
    MeanErrors.read(head(kvHead), tables.sizes(), data, shape().meansAt(kvHead), room.means);
  }

  private void read(Kernels kernels, MeadRoom room, int kvHead, Side side) {
    HeadTables head = head(kvHead);
    boolean isKnown = room.has(this, kvHead);
    if (!isKnown || tables.kind() == TableKind.CENTROIDS) {
      readPicks(room, kvHead, side);
    }
    if (!isKnown) {
      ClassMap.read(data, shape().mapAt(kvHead), room.order);
    }
    for (int i = 0; i < TokenClass.COUNT; i++) {
      TokenClass some = TokenClass.of(i);
      kernels
          .rowCodes()
          .decode(
              data,
              shape().rowsAt(kvHead, side, some),
              codes().heads().get(kvHead).of(side, some),
              room.order,
              some.firstRow(),
              some.tokens(),
              head.base(side),
              room.picks,
              room.vectors);
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
        for (int token = 0; token < TOKENS; token++) {
          picks[token] = tables.row(tokens.id(token));
        }
      }
      case CENTROIDS -> {
        for (int token = 0; token < TOKENS; token++) {
          picks[token] = pick(kvHead, side, token);
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
    readComponents(kernels, room, kvHead);
    int width = sizes.valueWidth();
    for (int token = 0; token < count; token++) {
      kernels.rows().add(room.vectors, token * width, room.means, 0, width);
    }
    kernels
        .floats()
        .products(
            room.vectors,
            0,
            width,
            count,
            head(kvHead).valueFrom(),
            0,
            width,
            sizes.valueDim(),
            width,
            out,
            0,
            sizes.valueDim());
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
