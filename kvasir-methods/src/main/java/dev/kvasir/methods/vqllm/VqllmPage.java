package dev.kvasir.methods.vqllm;

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
 * A layer's keys and values as codebook codes, with a scale per token. Many query rows share its
 * dequantized vectors. Serialized:
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
  /** Kind of the serialized page. */
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

  /** Creates a page of zeros, to be written. */
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

  /** Returns the channel of each key group member. */
  int[] keyMembers() {
    return codec.keyMembers();
  }

  GroupedRopeTable groupedRope() {
    return codec.groupedRope().orElseThrow();
  }

  /** Rotates queries back by the position of the first token. // (rows, keyDim) */
  void unrotate(float[] queries, int rows) {
    codec.keyRotation().orElseThrow().unrotateAll(queries, rows, position);
  }

  /**
   * Returns a head's codes.
   *
   * @param reusable array for the codes, used if it is large enough
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

  /** Reads what {@link #serialize} wrote. */
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
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    expand(workspace, layout.keys(), codebooks.keys(), codec.keyMembers(), kvHead, tokens, out);
    codec.keyRotation().orElseThrow().rotate(out, tokens, position);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    expand(
        workspace, layout.values(), codebooks.values(), codec.valueMembers(), kvHead, tokens, out);
  }

  /** Sums codebook rows in group order, then scatters the channels. */
  private void expand(
      PageWorkspace workspace,
      ChannelGroups side,
      ResidualCodebooks codebooks,
      int[] members,
      int kvHead,
      int tokens,
      float[] out) {
    float[] rows = codebooks.rows();
    float[] sums = workspace.codes().values(side.width());
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

  /** Computes attention on pages of codebook codes, for a few query rows that share a KV head. */
  private static final class VqllmReader implements PageReader {
    static final PageReaders.Kind<VqllmReader> KIND = new PageReaders.Kind<>(VqllmReader::new);

    private final CodebookKeyScorer keys;
    private final BinnedValueAccumulator values;

    private VqllmReader(PageReaders readers) {
      this.keys = new CodebookKeyScorer(readers.kernels(), readers.keyDim());
      this.values = new BinnedValueAccumulator(readers.kernels(), readers.valueDim());
    }

    @Override
    public void beginPass() {
      values.begin();
    }

    @Override
    public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
      keys.score((VqllmPage) page, kvHead, queries, rows, scores);
    }

    @Override
    public void accumulate(Page page, int kvHead, float[] weights, int rows, float[] accumulator) {
      values.add((VqllmPage) page, kvHead, weights, rows);
    }

    @Override
    public void rescale(int row, float factor) {
      values.rescale(row, factor);
    }

    @Override
    public void endPass(int rows, float[] accumulator) {
      values.end(rows, accumulator);
    }
  }
}
