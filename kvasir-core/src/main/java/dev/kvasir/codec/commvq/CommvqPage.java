package dev.kvasir.codec.commvq;

import dev.kvasir.codec.DequantizingReader;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.BitCodes;
import dev.kvasir.page.SetCodes;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A layer's keys and values as codes, in the layout of {@link CommvqShape}. The codes refer to the
 * rows of {@link CompactLayerCodebooks}. Serialized:
 *
 * <pre>
 * u16  KV heads
 * u16  channels of a key
 * u16  stages of keys
 * u16  channels of a value, and u16 stages of values, in pages of kinds 5 and 6 alone
 * u16  KV heads of a group, u8 bits of an index of keys, and u8 of values, in pages of kind 6 alone
 * u32  position of the first token
 *      scales and codes
 * </pre>
 */
public final class CommvqPage implements Page {
  /** The snapshot kind of this page. */
  private static final int KIND = 4;

  /** The snapshot kind if values and keys differ in width. */
  private static final int TWO_WIDTHS_KIND = 5;

  /** The snapshot kind if KV heads share the codes of values, or sets have fewer than 64 rows. */
  private static final int GROUPED_KIND = 6;

  private static final int HEADER_BYTES = 3 * Short.BYTES + Integer.BYTES;
  private static final int TWO_WIDTHS_HEADER_BYTES = HEADER_BYTES + 2 * Short.BYTES;
  private static final int GROUPED_HEADER_BYTES = TWO_WIDTHS_HEADER_BYTES + 2 * Short.BYTES;
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CommvqShape shape;
  private final CompactLayerCodebooks layerCodebooks;
  private final KeyScoring keyScoring;
  private final Rotation rotation;
  private final int position;
  private final SharedArena memory;
  private final MemorySegment data;

  private CommvqPage(
      SharedArena memory,
      CommvqShape shape,
      CompactLayerCodebooks layerCodebooks,
      KeyScoring keyScoring,
      Rotation rotation,
      int position,
      MemorySegment data) {
    this.shape = shape;
    this.layerCodebooks = layerCodebooks;
    this.keyScoring = keyScoring;
    this.rotation = rotation;
    this.position = position;
    this.data = data;
    this.memory = memory.retain();
  }

  CommvqPage(
      SharedArena memory,
      CommvqShape shape,
      CompactLayerCodebooks layerCodebooks,
      KeyScoring keyScoring,
      Rotation rotation,
      int position,
      EncodedBlock keys,
      EncodedBlock values) {
    this(
        memory,
        shape,
        layerCodebooks,
        keyScoring,
        rotation,
        position,
        memory.allocate(shape.bytes()));
    pack(keys.scales(), shape.keyScalesAt());
    pack(values.scales(), shape.valueScalesAt());
    for (int head = 0; head < shape.kvHeads(); head++) {
      int first = head * TOKENS * shape.keys().words();
      shape.keys().pack(keys.codes(), first, data, shape.keyCodesAt(head));
    }
    for (int group = 0; group < shape.groups(); group++) {
      int first = group * TOKENS * shape.values().words();
      shape.values().pack(values.codes(), first, data, shape.valueCodesAt(group));
    }
  }

  private void pack(short[] scales, long offset) {
    for (int token = 0; token < TOKENS; token++) {
      data.set(SHORT, offset + (long) Short.BYTES * token, scales[token]);
    }
  }

  @Override
  public byte[] serialize() {
    int kind = kind(shape);
    int header =
        switch (kind) {
          case KIND -> HEADER_BYTES;
          case TWO_WIDTHS_KIND -> TWO_WIDTHS_HEADER_BYTES;
          default -> GROUPED_HEADER_BYTES;
        };
    return SnapshotHeader.PAGE.wrap(kind, header + shape.bytes(), out -> write(kind, out));
  }

  private static int kind(CommvqShape shape) {
    if (!shape.isByHead()) {
      return GROUPED_KIND;
    }
    return shape.hasOneWidth() ? KIND : TWO_WIDTHS_KIND;
  }

  private void write(int kind, ByteBuffer out) {
    out.putShort((short) shape.kvHeads());
    out.putShort((short) shape.keyDim()).putShort((short) shape.keys().stages());
    if (kind != KIND) {
      out.putShort((short) shape.valueDim()).putShort((short) (shape.values().sets() / 2));
    }
    if (kind == GROUPED_KIND) {
      out.putShort((short) shape.valueHeads());
      out.put((byte) shape.keys().indexBits()).put((byte) shape.values().indexBits());
    }
    out.putInt(position);
    out.put(data.asByteBuffer());
  }

  /** Reads a page written by {@link #serialize}, with the codebooks of its layer. */
  static CommvqPage deserialize(
      SharedArena memory,
      Snapshot snapshot,
      CommvqShape shape,
      CompactLayerCodebooks layerCodebooks,
      KeyScoring keyScoring,
      Rotation rotation) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot,
        kind(shape),
        in -> deserialize(memory, in, shape, layerCodebooks, keyScoring, rotation));
  }

  private static CommvqPage deserialize(
      SharedArena memory,
      ByteBuffer in,
      CommvqShape shape,
      CompactLayerCodebooks layerCodebooks,
      KeyScoring keyScoring,
      Rotation rotation) {
    CommvqShape found = readShape(in, kind(shape));
    if (!found.equals(shape)) {
      throw SnapshotHeader.PAGE.invalid("has %s; this cache has %s".formatted(found, shape));
    }
    int position = SnapshotHeader.PAGE.readPosition(in);
    SnapshotHeader.PAGE.requireRemaining(in, shape.bytes());
    MemorySegment data = memory.adopt(MemorySegment.ofBuffer(in));
    return new CommvqPage(memory, shape, layerCodebooks, keyScoring, rotation, position, data);
  }

  private static CommvqShape readShape(ByteBuffer in, int kind) {
    int kvHeads = readUnsigned(in);
    int keyDim = readUnsigned(in);
    int keyStages = readUnsigned(in);
    if (kind == KIND) {
      return new CommvqShape(kvHeads, keyDim, keyStages);
    }
    int valueDim = readUnsigned(in);
    int valueStages = readUnsigned(in);
    if (kind == TWO_WIDTHS_KIND) {
      return new CommvqShape(kvHeads, keyDim, keyStages, valueDim, valueStages);
    }
    int valueHeads = readUnsigned(in);
    int keyBits = in.get();
    int valueBits = in.get();
    try {
      return new CommvqShape(
          kvHeads,
          keyDim,
          new StageCodes(keyStages, keyBits),
          valueDim,
          valueHeads,
          valueBits == 1 ? new BitCodes(2 * valueStages) : new StageCodes(valueStages, valueBits));
    } catch (IllegalArgumentException e) {
      throw SnapshotHeader.PAGE.invalid("has " + e.getMessage());
    }
  }

  private static int readUnsigned(ByteBuffer in) {
    return Short.toUnsignedInt(in.getShort());
  }

  public CompactLayerCodebooks layerCodebooks() {
    return layerCodebooks;
  }

  public KeyScoring reading() {
    return keyScoring;
  }

  public Rotation rotation() {
    return rotation;
  }

  /** Returns the position of the first token. */
  public int position() {
    return position;
  }

  /** Returns whether the values of adjacent heads have the same codes. */
  boolean shareValueCodes(int firstHead, int heads) {
    return firstHead / shape.valueHeads() == (firstHead + heads - 1) / shape.valueHeads();
  }

  /**
   * Reads the codes of a head's keys.
   *
   * @param indices (sets of keys, TOKENS), set
   */
  public void readKeys(Kernels kernels, int kvHead, byte[] indices) {
    unpack(kernels, shape.keys(), shape.keyCodesAt(kvHead), indices);
  }

  /**
   * Reads the codes of a head's values, which it may share with other heads.
   *
   * @param indices (sets of values, TOKENS), set
   */
  public void readValues(Kernels kernels, int kvHead, byte[] indices) {
    long at = shape.valueCodesAt(kvHead / shape.valueHeads());
    unpack(kernels, shape.values(), at, indices);
  }

  /**
   * Reads the bits of values, which all heads share, as {@link BitCodes} packs them.
   *
   * @param bits set
   */
  void readValueBits(byte[] bits) {
    long at = shape.valueCodesAt(0);
    MemorySegment.copy(data, ValueLayout.JAVA_BYTE, at, bits, 0, shape.values().bytes());
  }

  private void unpack(Kernels kernels, SetCodes codes, long at, byte[] indices) {
    if (codes.indexBits() == StageCodes.INDEX_BITS) {
      kernels.codebooks().unpackStages(data, at, codes.words(), indices);
    } else {
      codes.unpack(data, at, indices);
    }
  }

  /**
   * Reads the scales of keys.
   *
   * @param scales (TOKENS), set
   */
  public void readKeyScales(Kernels kernels, float[] scales) {
    kernels.halves().expand(data, shape.keyScalesAt(), scales, 0, TOKENS);
  }

  /**
   * Reads the scales of values.
   *
   * @param scales (TOKENS), set
   */
  public void readValueScales(Kernels kernels, float[] scales) {
    kernels.halves().expand(data, shape.valueScalesAt(), scales, 0, TOKENS);
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return keyScoring == KeyScoring.DECODED
        ? readers.of(DequantizingReader.KIND)
        : readers.of(CommvqReader.KIND);
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    DecodeScratch scratch =
        DecodeScratch.of(workspace, layerCodebooks.keySets(), layerCodebooks.table().width());
    Kernels kernels = workspace.kernels();
    Int8Codebooks codebooks = layerCodebooks.keys().get(kvHead);
    RopeTable table = layerCodebooks.table();
    readKeys(kernels, kvHead, scratch.indices);
    readKeyScales(kernels, scratch.scales);
    scratch.codes.set(codebooks, scratch.indices, scratch.scales, table.cosines(), table.sines());
    kernels.codebooks().rotatedSums(scratch.codes, 0, tokens, scratch.sums, scratch.vectors);
    scratch.ropeRotation(table).rotate(kernels, scratch.vectors, tokens, rotation, position);
    table.toModelOrder(scratch.vectors, tokens, out);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    if (layerCodebooks.hasValueBits()) {
      dequantizeValueBits(workspace, kvHead, tokens, out);
      return;
    }
    int valueDim = shape.valueDim();
    DecodeScratch scratch = DecodeScratch.of(workspace, layerCodebooks.valueSets(), valueDim);
    Kernels kernels = workspace.kernels();
    float[] numbers = scratch.floats(kernels, layerCodebooks.values().get(kvHead));
    readValues(kernels, kvHead, scratch.indices);
    readValueScales(kernels, scratch.scales);
    kernels
        .codebooks()
        .gatheredSums(
            numbers, 0, scratch.indices, layerCodebooks.valueSets(), tokens, valueDim, out);
    float[] mean = layerCodebooks.valueMeans().get(kvHead);
    for (int token = 0; token < tokens; token++) {
      kernels.rows().scale(out, token * valueDim, valueDim, scratch.scales[token]);
      kernels.rows().add(out, token * valueDim, mean, 0, valueDim);
    }
  }

  /** Adds up the rows of set bits, each times the scale of its token. */
  private void dequantizeValueBits(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    int valueDim = shape.valueDim();
    int bits = shape.values().sets();
    DecodeScratch scratch = DecodeScratch.of(workspace, bits, Math.max(valueDim, bits));
    Kernels kernels = workspace.kernels();
    float[] numbers = scratch.floats(kernels, layerCodebooks.values().get(kvHead));
    readValues(kernels, kvHead, scratch.indices);
    readValueScales(kernels, scratch.scales);
    float[] weights = scratch.vectors; // (tokens, bits)
    for (int bit = 0; bit < bits; bit++) {
      for (int token = 0; token < tokens; token++) {
        boolean set = scratch.indices[bit * TOKENS + token] != 0;
        weights[token * bits + bit] = set ? scratch.scales[token] : 0;
      }
    }
    Arrays.fill(out, 0, tokens * valueDim, 0);
    kernels
        .floats()
        .weightedSums(
            scratch.weightRows.set(weights, tokens, bits),
            scratch.codebookRows.set(numbers, bits, valueDim),
            scratch.outRows.set(out, tokens, valueDim));
  }

  @Override
  public long codeBytes() {
    return shape.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return shape.scaleBytes();
  }

  @Override
  public void close() {
    memory.release();
  }

  /**
   * A worker's buffers for decoding pages, reused because a prompt decodes many pages of a head.
   */
  private static final class DecodeScratch {
    final float[] scales = new float[Page.TOKENS];
    byte[] indices = {}; // (sets, TOKENS)
    short[] sums = {}; // (TOKENS, width)
    float[] vectors = {}; // (TOKENS, width)
    final RotaryCodes codes = new RotaryCodes();
    final RowBlock weightRows = new RowBlock();
    final RowBlock codebookRows = new RowBlock();
    final RowBlock outRows = new RowBlock();
    private float[] floats = {};
    private DenseMatrix expanded; // the matrix in floats; null if none
    private RopeRotation ropeRotation; // null until there is a table

    static DecodeScratch of(PageWorkspace workspace, int sets, int width) {
      DecodeScratch scratch = workspace.scratch(DecodeScratch.class, DecodeScratch::new);
      if (scratch.indices.length < sets * Page.TOKENS) {
        scratch.indices = new byte[sets * Page.TOKENS];
      }
      if (scratch.vectors.length < Page.TOKENS * width) {
        scratch.sums = new short[Page.TOKENS * width];
        scratch.vectors = new float[Page.TOKENS * width];
      }
      return scratch;
    }

    RopeRotation ropeRotation(RopeTable table) {
      if (ropeRotation == null || ropeRotation.table() != table) {
        ropeRotation = new RopeRotation(table);
      }
      return ropeRotation;
    }

    /** Returns a matrix as floats, cached for the next page of the same head. */
    float[] floats(Kernels kernels, DenseMatrix matrix) {
      int count = matrix.rows() * matrix.columns();
      if (expanded != matrix) {
        expanded = null;
        if (floats.length < count) {
          floats = new float[count];
        }
        kernels.halves().expand(matrix.data(), 0, floats, 0, count);
        expanded = matrix;
      }
      return floats;
    }
  }
}
