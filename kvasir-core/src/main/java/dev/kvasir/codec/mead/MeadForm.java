package dev.kvasir.codec.mead;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A page of codes as bytes:
 *
 * <pre>
 * f64      bits of the page's rate, as the spec counts them
 * u32      position of the first token
 * u8       n, tokens that stay exact
 * u8 (n)   which ones, in rising order
 *          ExactRows (n)
 *          ids of the tokens, in a page of the first layer alone, where tokens have to be known
 *          codes, maps and mean errors, as MeadShape lays them out
 * </pre>
 */
final class MeadForm {
  /** Its number among stored pages. */
  private static final int KIND = 60;

  private static final int TOKENS = Page.TOKENS;

  private final MeadCodec codec;
  private final MeadTables tables;
  private final int layer;

  private MeadForm(MeadCodec codec, int layer) {
    this.codec = codec;
    this.tables = codec.tables();
    this.layer = layer;
  }

  static byte[] of(MeadPage page) {
    long sinkBytes = 1 + ExactRows.bytesFor(page.tables().sizes());
    long bytes =
        Double.BYTES
            + Integer.BYTES
            + 1
            + page.sinks().length * sinkBytes
            + page.idBytes()
            + page.data().byteSize();
    return Envelope.PAGE.seal(KIND, bytes, out -> write(page, out));
  }

  private static void write(MeadPage page, ByteBuffer out) {
    out.putDouble(page.rate().bits()).putInt(page.position()).put((byte) page.sinks().length);
    for (LateSink sink : page.sinks()) {
      out.put((byte) sink.token());
    }
    for (LateSink sink : page.sinks()) {
      out.put(sink.rows().bytes().asByteBuffer());
    }
    if (page.idBytes() > 0) {
      out.put(page.tokens().bytes().asByteBuffer());
    }
    out.put(page.data().asByteBuffer());
  }

  /**
   * Reads what {@link #of} wrote.
   *
   * @param lateSinks of the sequence that the page belongs to
   */
  static MeadPage read(
      Form form, MeadCodec codec, int layer, ReadingRoom room, LateSinks lateSinks) {
    MeadForm reading = new MeadForm(codec, layer);
    return Envelope.PAGE.open(form, KIND, in -> reading.read(in, room, lateSinks));
  }

  private MeadPage read(ByteBuffer in, ReadingRoom room, LateSinks lateSinks) {
    MeadRate rate = codec.requireRate(Envelope.PAGE, in.getDouble());
    int position = Envelope.PAGE.position(in);
    int[] exact = exactTokens(in, lateSinks.slots());
    long rowBytes = ExactRows.bytesFor(tables.sizes());
    boolean holdsIds = layer == 0 && tables.needsTokens();
    int idBytes = holdsIds ? BlockTokens.BYTES : 0;
    MeadShape shape = rate.layers().get(layer).shape();
    Envelope.PAGE.requireRest(in, exact.length * rowBytes + idBytes + shape.bytes());
    MemorySegment rest = MemorySegment.ofBuffer(in);
    MemorySegment rows = rest.asSlice(0, exact.length * rowBytes);
    MemorySegment codes = rest.asSlice(rows.byteSize() + idBytes);
    requireWhole(codes, shape);
    if (!ExactRows.areFinite(rows)) {
      throw Envelope.PAGE.refused("keeps a token with a number that is not finite");
    }
    in.position(in.position() + (int) rows.byteSize());
    BlockTokens tokens = tables.needsTokens() ? tokens(in, room, position) : null;
    MeadPage page = page(room.memory(), rate, position, tokens, exact, lateSinks);
    for (int i = 0; i < exact.length; i++) {
      page.sinks()[i].rows().bytes().copyFrom(rows.asSlice(i * rowBytes, rowBytes));
    }
    page.data().copyFrom(codes);
    if (holdsIds) {
      room.known().add(tokens);
    }
    return page;
  }

  /** Its own, or those that the first layer of its block brought. */
  private BlockTokens tokens(ByteBuffer in, ReadingRoom room, int position) {
    return layer == 0 ? room.ids(in, position) : room.known().stored(position);
  }

  private MeadPage page(
      SharedArena memory,
      MeadRate rate,
      int position,
      BlockTokens tokens,
      int[] exact,
      LateSinks lateSinks) {
    List<LateSink> sinks = new ArrayList<>();
    for (int token : exact) {
      sinks.add(lateSinks.keep(layer, position, token));
    }
    return MeadPage.of(memory, tables, rate, layer, position, tokens, sinks);
  }

  private static int[] exactTokens(ByteBuffer in, int most) {
    int count = Byte.toUnsignedInt(in.get());
    if (count > most) {
      throw Envelope.PAGE.refused(
          "keeps %d tokens; this cache keeps up to %d".formatted(count, most));
    }
    int[] exact = new int[count];
    int before = -1;
    for (int i = 0; i < count; i++) {
      exact[i] = Byte.toUnsignedInt(in.get());
      if (exact[i] <= before || exact[i] >= TOKENS) {
        throw Envelope.PAGE.refused(
            "keeps token %d after %d; expected rising places below %d"
                .formatted(exact[i], before, TOKENS));
      }
      before = exact[i];
    }
    return exact;
  }

  private void requireWhole(MemorySegment codes, MeadShape shape) {
    for (int head = 0; head < shape.kvHeads(); head++) {
      if (!ClassMap.isWhole(codes, shape.mapAt(head))) {
        throw Envelope.PAGE.refused("has classes of other sizes than 64, 48 and 16 tokens");
      }
      for (Side side : Side.values()) {
        if (tables.kind() == TableKind.CENTROIDS) {
          requireRows(codes.asSlice(shape.picksAt(head, side), TOKENS), head, side);
        }
      }
    }
  }

  private void requireRows(MemorySegment picks, int head, Side side) {
    int rows = tables.head(layer, head).base(side).rows();
    for (int token = 0; token < TOKENS; token++) {
      int pick = Byte.toUnsignedInt(picks.get(ValueLayout.JAVA_BYTE, token));
      if (pick >= rows) {
        throw Envelope.PAGE.refused(
            "has row %d of a table; expected up to %d".formatted(pick, rows - 1));
      }
    }
  }
}
