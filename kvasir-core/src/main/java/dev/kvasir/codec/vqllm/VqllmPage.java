package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.DequantizingReader;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
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
 *      the page's bytes, a VqllmPageLayout
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
  private final VqllmPageLayout layout;
  private final LayerResidualCodebooks codebooks;
  private final int position; // of the first token
  private final MemorySegment bytes;

  /** All zeros, to be written. */
  VqllmPage(SharedArena memory, VqllmCodec codec, LayerResidualCodebooks codebooks, int position) {
    this(memory, codec, codebooks, position, memory.allocate(codec.layout().bytes()));
  }

  private VqllmPage(
      SharedArena memory,
      VqllmCodec codec,
      LayerResidualCodebooks codebooks,
      int position,
      MemorySegment bytes) {
    this.codec = codec;
    this.layout = codec.layout();
    this.codebooks = codebooks;
    this.position = position;
    this.bytes = bytes;
    this.memory = memory.retain();
  }

  void write(ChannelGroups side, int kvHead, byte[] codes) {
    MemorySegment.copy(
        codes, 0, bytes, ValueLayout.JAVA_BYTE, layout.codesAt(side, kvHead), codes.length);
  }

  void writeScales(ChannelGroups side, float[] scales) {
    for (int token = 0; token < TOKENS; token++) {
      long at = layout.scalesAt(side) + (long) Short.BYTES * token;
      bytes.set(HALF, at, Float.floatToFloat16(scales[token]));
    }
  }

  VqllmPageLayout layout() {
    return layout;
  }

  LayerResidualCodebooks codebooks() {
    return codebooks;
  }

  /** Channels of keys by their places in groups. */
  int[] keyMembers() {
    return codec.keyMembers();
  }

  GroupedRopeTable groupedRope() {
    return codec.groupedRope().orElseThrow();
  }

  /** Turns queries back by the position of the first token. // (rows, keyDim) */
  void unrotate(float[] queries, int rows) {
    codec.keyRotation().orElseThrow().unrotateAll(queries, rows, position);
  }

  /**
   * A head's codes.
   *
   * @param room what to put them into, where it is large enough
   * @return (tokens, groups, stages)
   */
  byte[] codes(ChannelGroups side, int kvHead, byte[] reusable) {
    int count = layout.headCodes(side);
    byte[] codes = reusable.length < count ? new byte[count] : reusable;
    MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, layout.codesAt(side, kvHead), codes, 0, count);
    return codes;
  }

  /**
   * @param scales (TOKENS), set
   */
  void readScales(Kernels kernels, ChannelGroups side, float[] scales) {
    kernels.halves().expand(bytes, layout.scalesAt(side), scales, 0, TOKENS);
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return codec.groupedRope().isPresent()
        ? readers.of(VqllmReader.KIND)
        : readers.of(DequantizingReader.KIND);
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        HEADER_BYTES + bytes.byteSize(),
        out -> {
          out.putShort((short) layout.kvHeads());
          out.putShort((short) layout.keys().dim()).putShort((short) layout.values().dim());
          out.put((byte) layout.stages()).putInt(codebooks.fingerprint());
          out.putInt(position).put(bytes.asByteBuffer());
        });
  }

  /** Reads what {@link #form} wrote. */
  static VqllmPage read(
      SharedArena memory, Snapshot snapshot, VqllmCodec codec, LayerResidualCodebooks codebooks) {
    return SnapshotHeader.PAGE.unwrap(snapshot, KIND, in -> read(memory, in, codec, codebooks));
  }

  private static VqllmPage read(
      SharedArena memory, ByteBuffer in, VqllmCodec codec, LayerResidualCodebooks codebooks) {
    VqllmPageLayout layout = codec.layout();
    require(in.getShort(), "KV heads", layout.kvHeads());
    require(in.getShort(), "channels of a key", layout.keys().dim());
    require(in.getShort(), "channels of a value", layout.values().dim());
    require(in.get(), "stages", layout.stages());
    int fingerprint = in.getInt();
    if (fingerprint != codebooks.fingerprint()) {
      throw SnapshotHeader.PAGE.invalid(
          "has codes of codebooks %08x; this cache has %08x"
              .formatted(fingerprint, codebooks.fingerprint()));
    }
    int position = SnapshotHeader.PAGE.readPosition(in);
    SnapshotHeader.PAGE.requireRemaining(in, layout.bytes());
    MemorySegment bytes = memory.adopt(MemorySegment.ofBuffer(in));
    return new VqllmPage(memory, codec, codebooks, position, bytes);
  }

  private static void require(int found, String what, int expected) {
    if (found != expected) {
      throw SnapshotHeader.PAGE.invalid(
          "has %d %s; this cache has %d".formatted(found, what, expected));
    }
  }

  @Override
  public void dequantizeKeys(PageWorkspace reusable, int kvHead, int tokens, float[] out) {
    expand(reusable, layout.keys(), codebooks.keys(), codec.keyMembers(), kvHead, tokens, out);
    codec.keyRotation().orElseThrow().rotate(out, tokens, position);
  }

  @Override
  public void dequantizeValues(PageWorkspace reusable, int kvHead, int tokens, float[] out) {
    expand(
        reusable, layout.values(), codebooks.values(), codec.valueMembers(), kvHead, tokens, out);
  }

  /** Sums rows group by group, side by side as they lie, before channels go to their places. */
  private void expand(
      PageWorkspace reusable,
      ChannelGroups side,
      ResidualCodebooks codebooks,
      int[] members,
      int kvHead,
      int tokens,
      float[] out) {
    float[] rows = codebooks.rows();
    float[] sums = reusable.codes().values(side.width());
    long code = layout.codesAt(side, kvHead);
    for (int token = 0; token < tokens; token++) {
      for (int group = 0; group < side.width(); group += ChannelGroups.CHANNELS) {
        set(rows, row(code++, 0), sums, group);
        for (int stage = 1; stage < layout.stages(); stage++) {
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
    return ResidualCodebooks.at(stage, Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, code)));
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
    return Float.float16ToFloat(
        bytes.get(HALF, layout.scalesAt(side) + (long) Short.BYTES * token));
  }

  @Override
  public long codeBytes() {
    return layout.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return layout.bytes() - layout.codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }
}
