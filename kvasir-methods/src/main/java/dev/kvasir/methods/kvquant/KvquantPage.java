package dev.kvasir.methods.kvquant;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeScratch;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A layer's keys and values as {@link NonUniformCodes}, head after head: (channels, tokens) for
 * keys, then (tokens, channels) for values. Attention dequantizes it. Serialized:
 *
 * <pre>
 * u16  KV heads
 * u16  channels of a key
 * u16  channels of a value
 * u8   bits of keys
 * u8   bits of values
 * u8   outliers of a key channel
 * u8   outliers of a value vector
 * u8   1 if keys are before RoPE, else 0
 * u32  position of the first token
 *      the page's bytes
 * </pre>
 */
final class KvquantPage implements Page {
  /** Kind of the serialized page. */
  private static final int KIND = 43;

  private static final int HEADER_BYTES = 3 * Short.BYTES + 5 + Integer.BYTES;

  private final SharedArena memory;
  private final KvquantCodec codec;
  private final int position; // of the first token
  private final MemorySegment bytes;

  private KvquantPage(SharedArena memory, KvquantCodec codec, int position, MemorySegment bytes) {
    this.codec = codec;
    this.position = position;
    this.bytes = bytes;
    this.memory = memory.retain();
  }

  /**
   * @param keys (kvHeads, tokens, keyDim), overwritten
   * @param values (kvHeads, tokens, valueDim)
   */
  static KvquantPage quantize(
      SharedArena memory, KvquantCodec codec, int position, float[] keys, float[] values) {
    KvquantPage page = new KvquantPage(memory, codec, position, memory.allocate(codec.pageBytes()));
    CodeScratch scratch = new CodeScratch();
    try {
      for (int head = 0; head < codec.kvHeads(); head++) {
        page.quantizeKeys(scratch, head, keys);
        page.quantizeValues(scratch, head, values);
      }
      return page;
    } catch (RuntimeException | Error e) {
      page.close();
      throw e;
    }
  }

  private void quantizeKeys(CodeScratch scratch, int head, float[] keys) {
    int keyDim = codec.keys().vectors();
    int at = head * TOKENS * keyDim;
    if (codec.rotation().isPresent()) {
      codec.rotation().get().rotate(keys, at, keyDim, TOKENS, -position);
      codec.rotation().get().unrotateConsecutive(keys, at, keyDim, TOKENS);
    }
    float[] channels = scratch.values(TOKENS * keyDim);
    for (int channel = 0; channel < keyDim; channel++) {
      for (int token = 0; token < TOKENS; token++) {
        channels[channel * TOKENS + token] = keys[at + token * keyDim + channel];
      }
    }
    codec.keys().quantize(scratch, channels, bytes, keysOffset(head));
  }

  private void quantizeValues(CodeScratch scratch, int head, float[] values) {
    int count = TOKENS * codec.values().length();
    float[] tokens = scratch.values(count);
    System.arraycopy(values, head * count, tokens, 0, count);
    codec.values().quantize(scratch, tokens, bytes, valuesOffset(head));
  }

  private long keysOffset(int head) {
    return head * codec.headBytes();
  }

  private long valuesOffset(int head) {
    return keysOffset(head) + codec.keys().bytes();
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        HEADER_BYTES + bytes.byteSize(),
        out -> {
          writeHeader(out);
          out.putInt(position).put(bytes.asByteBuffer());
        });
  }

  private void writeHeader(ByteBuffer out) {
    NonUniformCodes keys = codec.keys();
    NonUniformCodes values = codec.values();
    out.putShort((short) codec.kvHeads());
    out.putShort((short) keys.vectors()).putShort((short) values.length());
    out.put((byte) keys.bits()).put((byte) values.bits());
    out.put((byte) keys.outliers()).put((byte) values.outliers());
    out.put((byte) preRopeFlag(codec));
  }

  /** Reads what {@link #serialize} wrote. */
  static KvquantPage read(SharedArena memory, Snapshot snapshot, KvquantCodec codec) {
    return SnapshotHeader.PAGE.unwrap(snapshot, KIND, in -> read(memory, in, codec));
  }

  private static KvquantPage read(SharedArena memory, ByteBuffer in, KvquantCodec codec) {
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int keyDim = Short.toUnsignedInt(in.getShort());
    int valueDim = Short.toUnsignedInt(in.getShort());
    int keyBits = in.get();
    int valueBits = in.get();
    NonUniformCodes keys =
        new NonUniformCodes(keyDim, TOKENS, keyBits, in.get(), codec.keys().placement());
    NonUniformCodes values =
        new NonUniformCodes(TOKENS, valueDim, valueBits, in.get(), codec.keys().placement());
    int preRope = in.get();
    if (kvHeads != codec.kvHeads()
        || !keys.equals(codec.keys())
        || !values.equals(codec.values())
        || preRope != preRopeFlag(codec)) {
      throw SnapshotHeader.PAGE.invalid(
          "has %s; this cache has %s"
              .formatted(
                  describe(kvHeads, keys, values, preRope),
                  describe(codec.kvHeads(), codec.keys(), codec.values(), preRopeFlag(codec))));
    }
    int position = SnapshotHeader.PAGE.readPosition(in);
    SnapshotHeader.PAGE.requireRemaining(in, codec.pageBytes());
    MemorySegment bytes = memory.adopt(MemorySegment.ofBuffer(in));
    return new KvquantPage(memory, codec, position, bytes).requireValidIndices();
  }

  private static int preRopeFlag(KvquantCodec codec) {
    return codec.rotation().isPresent() ? 1 : 0;
  }

  private static String describe(
      int kvHeads, NonUniformCodes keys, NonUniformCodes values, int preRope) {
    return "%d KV heads with keys %s rotation of %s and values of %s"
        .formatted(kvHeads, preRope == 0 ? "after" : "before", keys, values);
  }

  private KvquantPage requireValidIndices() {
    for (int head = 0; head < codec.kvHeads(); head++) {
      if (!codec.keys().hasValidOutlierIndices(bytes, keysOffset(head))
          || !codec.values().hasValidOutlierIndices(bytes, valuesOffset(head))) {
        close();
        throw SnapshotHeader.PAGE.invalid(
            "has an outlier of head %d with an invalid index".formatted(head));
      }
    }
    return this;
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    int keyDim = codec.keys().vectors();
    float[] channels = workspace.codes().values(TOKENS * keyDim);
    codec
        .keys()
        .expand(workspace.codes(), LevelScratch.of(workspace), bytes, keysOffset(kvHead), channels);
    for (int channel = 0; channel < keyDim; channel++) {
      for (int token = 0; token < tokens; token++) {
        out[token * keyDim + channel] = channels[channel * TOKENS + token];
      }
    }
    if (codec.rotation().isPresent()) {
      codec.rotation().get().rotateConsecutive(out, 0, keyDim, tokens);
      codec.rotation().get().rotate(out, 0, keyDim, tokens, position);
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    int valueDim = codec.values().length();
    float[] rows = workspace.codes().values(TOKENS * valueDim);
    codec
        .values()
        .expand(workspace.codes(), LevelScratch.of(workspace), bytes, valuesOffset(kvHead), rows);
    System.arraycopy(rows, 0, out, 0, tokens * valueDim);
  }

  @Override
  public long codeBytes() {
    return codec.codeBytes();
  }

  /** Counts levels and outliers as scale bytes. */
  @Override
  public long scaleBytes() {
    return bytes.byteSize() - codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }

  /** Scratch array for levels of one worker. */
  private static final class LevelScratch {
    private final float[] levels = new float[NonUniformCodes.MAX_LEVELS];

    static float[] of(PageWorkspace workspace) {
      return workspace.scratch(LevelScratch.class, LevelScratch::new).levels;
    }
  }
}
