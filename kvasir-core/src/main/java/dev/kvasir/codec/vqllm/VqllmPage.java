package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.ExpandedReader;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A layer's keys and values as codes of rows, and scales of tokens. Many query rows share what is
 * expanded of it. Stored:
 *
 * <pre>
 * u16  KV heads
 * u16  channels of a key
 * u16  channels of a value
 * u8   stages
 * u32  fingerprint of the codebooks
 * u32  position of the first token
 *      the page's bytes, a VqllmShape
 * </pre>
 */
final class VqllmPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 44;

  private static final int HEADER_BYTES = 3 * Short.BYTES + 1 + 2 * Integer.BYTES;
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SharedArena memory;
  private final VqllmCodec codec;
  private final VqllmShape shape;
  private final LayerBooks books;
  private final int position; // of the first token
  private final MemorySegment bytes;

  VqllmPage(SharedArena memory, VqllmCodec codec, LayerBooks books, int position) {
    this.codec = codec;
    this.shape = codec.shape();
    this.books = books;
    this.position = position;
    this.bytes = memory.allocate(shape.bytes());
    this.memory = memory.retain();
  }

  void write(ChannelGroups side, int kvHead, byte[] codes) {
    MemorySegment.copy(
        codes, 0, bytes, ValueLayout.JAVA_BYTE, shape.codesAt(side, kvHead), codes.length);
  }

  void writeScales(ChannelGroups side, float[] scales) {
    for (int token = 0; token < TOKENS; token++) {
      long at = shape.scalesAt(side) + (long) Short.BYTES * token;
      bytes.set(HALF, at, Float.floatToFloat16(scales[token]));
    }
  }

  VqllmShape shape() {
    return shape;
  }

  LayerBooks books() {
    return books;
  }

  /** Channels of keys by their places in groups. */
  int[] keyMembers() {
    return codec.keyMembers();
  }

  GroupTurns groupTurns() {
    return codec.groupTurns().orElseThrow();
  }

  /** Turns queries back by the position of the first token. // (rows, keyDim) */
  void turnBack(float[] queries, int rows) {
    codec.turns().orElseThrow().backAll(queries, rows, position);
  }

  /**
   * A head's codes.
   *
   * @param room what to put them into, where it is large enough
   * @return (tokens, groups, stages)
   */
  byte[] codes(ChannelGroups side, int kvHead, byte[] room) {
    int count = shape.headCodes(side);
    byte[] codes = room.length < count ? new byte[count] : room;
    MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, shape.codesAt(side, kvHead), codes, 0, count);
    return codes;
  }

  /**
   * @param scales (TOKENS), set
   */
  void readScales(Kernels kernels, ChannelGroups side, float[] scales) {
    kernels.halves().expand(bytes, shape.scalesAt(side), scales, 0, TOKENS);
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return codec.groupTurns().isPresent()
        ? readers.of(VqllmReader.KIND)
        : readers.of(ExpandedReader.KIND);
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        HEADER_BYTES + bytes.byteSize(),
        out -> {
          out.putShort((short) shape.kvHeads());
          out.putShort((short) shape.keys().dim()).putShort((short) shape.values().dim());
          out.put((byte) shape.stages()).putInt(books.fingerprint());
          out.putInt(position).put(bytes.asByteBuffer());
        });
  }

  /** Reads what {@link #form} wrote. */
  static VqllmPage read(SharedArena memory, Form form, VqllmCodec codec, LayerBooks books) {
    return Envelope.PAGE.open(form, KIND, in -> read(memory, in, codec, books));
  }

  private static VqllmPage read(
      SharedArena memory, ByteBuffer in, VqllmCodec codec, LayerBooks books) {
    VqllmShape shape = codec.shape();
    require(in.getShort(), "KV heads", shape.kvHeads());
    require(in.getShort(), "channels of a key", shape.keys().dim());
    require(in.getShort(), "channels of a value", shape.values().dim());
    require(in.get(), "stages", shape.stages());
    int fingerprint = in.getInt();
    if (fingerprint != books.fingerprint()) {
      throw Envelope.PAGE.refused(
          "has codes of codebooks %08x; this cache has %08x"
              .formatted(fingerprint, books.fingerprint()));
    }
    int position = Envelope.PAGE.position(in);
    Envelope.PAGE.requireRest(in, shape.bytes());
    VqllmPage page = new VqllmPage(memory, codec, books, position);
    page.bytes.copyFrom(MemorySegment.ofBuffer(in));
    return page;
  }

  private static void require(int found, String what, int expected) {
    if (found != expected) {
      throw Envelope.PAGE.refused("has %d %s; this cache has %d".formatted(found, what, expected));
    }
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    expand(room, shape.keys(), books.keys(), codec.keyMembers(), kvHead, tokens, out);
    codec.turns().orElseThrow().forth(out, tokens, position);
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    expand(room, shape.values(), books.values(), codec.valueMembers(), kvHead, tokens, out);
  }

  /** Sums rows group by group, side by side as they lie, before channels go to their places. */
  private void expand(
      PageRoom room,
      ChannelGroups side,
      ResidualBooks books,
      int[] members,
      int kvHead,
      int tokens,
      float[] out) {
    float[] rows = books.rows();
    float[] sums = room.codes().grid(side.width());
    long code = shape.codesAt(side, kvHead);
    for (int token = 0; token < tokens; token++) {
      for (int group = 0; group < side.width(); group += ChannelGroups.CHANNELS) {
        set(rows, row(code++, 0), sums, group);
        for (int stage = 1; stage < shape.stages(); stage++) {
          add(rows, row(code++, stage), sums, group);
        }
      }
      float scale = scale(side, token);
      int at = token * side.dim();
      for (int i = 0; i < members.length; i++) {
        if (members[i] >= 0) {
          out[at + members[i]] = sums[i] * scale;
        }
      }
    }
  }

  private int row(long code, int stage) {
    return ResidualBooks.at(stage, Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, code)));
  }

  private static void set(float[] rows, int from, float[] sums, int at) {
    System.arraycopy(rows, from, sums, at, ChannelGroups.CHANNELS);
  }

  private static void add(float[] rows, int from, float[] sums, int at) {
    for (int i = 0; i < ChannelGroups.CHANNELS; i++) {
      sums[at + i] += rows[from + i];
    }
  }

  private float scale(ChannelGroups side, int token) {
    return Float.float16ToFloat(bytes.get(HALF, shape.scalesAt(side) + (long) Short.BYTES * token));
  }

  @Override
  public long codeBytes() {
    return shape.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return shape.bytes() - shape.codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }
}
