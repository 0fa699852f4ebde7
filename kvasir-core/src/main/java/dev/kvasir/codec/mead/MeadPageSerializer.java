package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Serializes a quantized page:
 *
 * <pre>
 * f64      bits of the page's rate, as the spec counts them
 * u32      position of the first token
 * u8       n, number of unquantized tokens
 * u8 (n)   their indices on the page, rising
 *          ExactRows (n)
 *          token ids, in a page of the first layer only, if ids are needed
 *          codes, tier maps and mean errors in a MeadPageLayout, rows one after another
 * </pre>
 */
final class MeadPageSerializer {
  /** Kind of a serialized page whose tiers are by attention. */
  private static final int ATTENTION_KIND = 63;

  /** Kind of a serialized page whose tiers are by energy. */
  private static final int ENERGY_KIND = 64;

  /** Kinds of pages with more bits than their rate now has, because less was counted. */
  private static final Set<Integer> OUTDATED_KINDS = Set.of(60, 62);

  private static final int TOKENS = Page.TOKENS;

  private final MeadCodec codec;
  private final MeadTables tables;
  private final int layer;

  private MeadPageSerializer(MeadCodec codec, int layer) {
    this.codec = codec;
    this.tables = codec.tables();
    this.layer = layer;
  }

  static byte[] serialize(MeadPage page) {
    long sinkBytes = 1 + ExactRows.bytesFor(page.tables().sizes());
    long bytes =
        Double.BYTES
            + Integer.BYTES
            + 1
            + page.sinks().length * sinkBytes
            + page.tokenIdBytes()
            + page.data().byteSize();
    return SnapshotHeader.PAGE.wrap(kind(page.rate().saliency()), bytes, out -> write(page, out));
  }

  /** Returns a kind of its own for each metric, because the bits of tiers depend on it. */
  private static int kind(SaliencyMetric saliency) {
    return switch (saliency) {
      case ATTENTION -> ATTENTION_KIND;
      case ENERGY -> ENERGY_KIND;
    };
  }

  private static void write(MeadPage page, ByteBuffer out) {
    out.putDouble(page.rate().bits()).putInt(page.position()).put((byte) page.sinks().length);
    for (LateSink sink : page.sinks()) {
      out.put((byte) sink.token());
    }
    for (LateSink sink : page.sinks()) {
      out.put(sink.rows().bytes().asByteBuffer());
    }
    if (page.tokenIdBytes() > 0) {
      out.put(page.tokens().bytes().asByteBuffer());
    }
    MemorySegment stored = MemorySegment.ofArray(new byte[(int) page.data().byteSize()]);
    ValueColumns.toStored(page.codes(), page.data(), stored);
    out.put(stored.asByteBuffer());
  }

  /**
   * Reads what {@link #serialize} wrote.
   *
   * @param lateSinks late sinks of the sequence that owns the page
   */
  static MeadPage read(
      Snapshot snapshot, MeadCodec codec, int layer, MeadReadContext context, LateSinks lateSinks) {
    requireCurrent(snapshot);
    MeadPageSerializer serializer = new MeadPageSerializer(codec, layer);
    return SnapshotHeader.PAGE.unwrap(
        snapshot, kind(codec.saliency()), in -> serializer.read(in, context, lateSinks));
  }

  private static void requireCurrent(Snapshot snapshot) {
    int kind = SnapshotHeader.PAGE.kindOf(snapshot);
    if (OUTDATED_KINDS.contains(kind)) {
      throw SnapshotHeader.PAGE.invalid(
          ("is of kind %d, from a version of Kvasir whose mead counted fewer bytes of a sequence;"
                  + " this cache has smaller pages, so the text must be read again")
              .formatted(kind));
    }
  }

  private MeadPage read(ByteBuffer in, MeadReadContext context, LateSinks lateSinks) {
    MeadRate rate = codec.requireRate(SnapshotHeader.PAGE, in.getDouble());
    int position = SnapshotHeader.PAGE.readPosition(in);
    int[] exact = exactTokens(in, lateSinks.slots());
    long rowBytes = ExactRows.bytesFor(tables.sizes());
    boolean holdsIds = layer == 0 && tables.needsTokenIds();
    int idBytes = holdsIds ? BlockTokenIds.BYTES : 0;
    MeadPageLayout layout = rate.layers().get(layer).layout();
    SnapshotHeader.PAGE.requireRemaining(in, exact.length * rowBytes + idBytes + layout.bytes());
    MemorySegment rest = MemorySegment.ofBuffer(in);
    MemorySegment rows = rest.asSlice(0, exact.length * rowBytes);
    MemorySegment codes = rest.asSlice(rows.byteSize() + idBytes);
    requireValid(codes, layout);
    if (!ExactRows.areFinite(rows)) {
      throw SnapshotHeader.PAGE.invalid("keeps a token with a number that is not finite");
    }
    in.position(in.position() + (int) rows.byteSize());
    BlockTokenIds tokens = tables.needsTokenIds() ? tokens(in, context, position) : null;
    MeadPage page = page(context.memory(), rate, position, tokens, exact, lateSinks);
    for (int i = 0; i < exact.length; i++) {
      page.sinks()[i].rows().bytes().copyFrom(rows.asSlice(i * rowBytes, rowBytes));
    }
    ValueColumns.fromStored(page.codes(), codes, page.data());
    if (holdsIds) {
      context.known().add(tokens);
    }
    return page;
  }

  /** Returns the page's own ids, or those of the block's first layer. */
  private BlockTokenIds tokens(ByteBuffer in, MeadReadContext context, int position) {
    return layer == 0
        ? context.readTokenIds(in, position)
        : context.known().requireStored(position);
  }

  private MeadPage page(
      SharedArena memory,
      MeadRate rate,
      int position,
      BlockTokenIds tokens,
      int[] exact,
      LateSinks lateSinks) {
    List<LateSink> sinks = new ArrayList<>();
    for (int token : exact) {
      sinks.add(lateSinks.retainToken(layer, position, token));
    }
    return MeadPage.of(memory, tables, rate, layer, position, tokens, sinks);
  }

  private static int[] exactTokens(ByteBuffer in, int most) {
    int count = Byte.toUnsignedInt(in.get());
    if (count > most) {
      throw SnapshotHeader.PAGE.invalid(
          "keeps %d tokens; this cache keeps up to %d".formatted(count, most));
    }
    int[] exact = new int[count];
    int before = -1;
    for (int i = 0; i < count; i++) {
      exact[i] = Byte.toUnsignedInt(in.get());
      if (exact[i] <= before || exact[i] >= TOKENS) {
        throw SnapshotHeader.PAGE.invalid(
            "keeps token %d after %d; expected rising places below %d"
                .formatted(exact[i], before, TOKENS));
      }
      before = exact[i];
    }
    return exact;
  }

  private void requireValid(MemorySegment codes, MeadPageLayout layout) {
    for (int head = 0; head < layout.kvHeads(); head++) {
      if (!SaliencyTierMap.isValid(codes, layout.tierMapAt(head))) {
        throw SnapshotHeader.PAGE.invalid("has classes of other sizes than 64, 48 and 16 tokens");
      }
      for (KvSide side : KvSide.values()) {
        if (tables.kind() == TableKind.CENTROIDS) {
          requireTableRows(codes.asSlice(layout.tableRowsAt(head, side), TOKENS), head, side);
        }
      }
    }
  }

  private void requireTableRows(MemorySegment tableRows, int head, KvSide side) {
    int rows = tables.head(layer, head).base(side).rows();
    for (int token = 0; token < TOKENS; token++) {
      int tableRow = Byte.toUnsignedInt(tableRows.get(ValueLayout.JAVA_BYTE, token));
      if (tableRow >= rows) {
        throw SnapshotHeader.PAGE.invalid(
            "has row %d of a table; expected up to %d".formatted(tableRow, rows - 1));
      }
    }
  }
}
