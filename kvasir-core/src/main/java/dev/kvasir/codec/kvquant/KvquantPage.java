package dev.kvasir.codec.kvquant;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeRoom;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A layer's keys and values as codes of levels, head after head: {@link LevelCodes} of (channels,
 * tokens) for keys, then of (tokens, channels) for values. Attention expands it. Stored:
 *
 * <pre>
 * u16  KV heads
 * u16  channels of a key
 * u16  channels of a value
 * u8   bits of keys
 * u8   bits of values
 * u8   numbers of a channel of keys that are kept apart
 * u8   numbers of a value that are kept apart
 * u8   1 if keys are as they were before rotation, else 0
 * u32  position of the first token
 *      the page's bytes
 * </pre>
 */
final class KvquantPage implements Page {
  /** Its number among stored pages. */
  private static final int KIND = 43;

  private static final int HEADER_BYTES = 3 * Short.BYTES + 5 + Integer.BYTES;

  private final SharedArena memory;
  private final KvquantCodec codec;
  private final int position; // of the first token
  private final MemorySegment bytes;

  private KvquantPage(SharedArena memory, KvquantCodec codec, int position) {
    this.codec = codec;
    this.position = position;
    this.bytes = memory.allocate(codec.pageBytes());
    this.memory = memory.retain();
  }

  /**
   * @param keys (kvHeads, tokens, keyDim), changed
   * @param values (kvHeads, tokens, valueDim)
   */
  static KvquantPage pack(
      SharedArena memory, KvquantCodec codec, int position, float[] keys, float[] values) {
    KvquantPage page = new KvquantPage(memory, codec, position);
    CodeRoom room = new CodeRoom();
    try {
      for (int head = 0; head < codec.kvHeads(); head++) {
        page.packKeys(room, head, keys);
        page.packValues(room, head, values);
      }
      return page;
    } catch (RuntimeException | Error e) {
      page.close();
      throw e;
    }
  }

  private void packKeys(CodeRoom room, int head, float[] keys) {
    int keyDim = codec.keys().vectors();
    int at = head * TOKENS * keyDim;
    if (codec.rotation().isPresent()) {
      codec.rotation().get().turn(keys, at, keyDim, TOKENS, -position);
      codec.rotation().get().turnBackAlong(keys, at, keyDim, TOKENS);
    }
    float[] channels = room.grid(TOKENS * keyDim);
    for (int channel = 0; channel < keyDim; channel++) {
      for (int token = 0; token < TOKENS; token++) {
        channels[channel * TOKENS + token] = keys[at + token * keyDim + channel];
      }
    }
    codec.keys().pack(room, channels, bytes, keysOffset(head));
  }

  private void packValues(CodeRoom room, int head, float[] values) {
    int count = TOKENS * codec.values().length();
    float[] tokens = room.grid(count);
    System.arraycopy(values, head * count, tokens, 0, count);
    codec.values().pack(room, tokens, bytes, valuesOffset(head));
  }

  private long keysOffset(int head) {
    return head * codec.headBytes();
  }

  private long valuesOffset(int head) {
    return keysOffset(head) + codec.keys().bytes();
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        HEADER_BYTES + bytes.byteSize(),
        out -> {
          writeHeader(out);
          out.putInt(position).put(bytes.asByteBuffer());
        });
  }

  private void writeHeader(ByteBuffer out) {
    LevelCodes keys = codec.keys();
    LevelCodes values = codec.values();
    out.putShort((short) codec.kvHeads());
    out.putShort((short) keys.vectors()).putShort((short) values.length());
    out.put((byte) keys.bits()).put((byte) values.bits());
    out.put((byte) keys.outliers()).put((byte) values.outliers());
    out.put((byte) before(codec));
  }

  /** Reads what {@link #form} wrote. */
  static KvquantPage read(SharedArena memory, Form form, KvquantCodec codec) {
    return Envelope.PAGE.open(form, KIND, in -> read(memory, in, codec));
  }

  private static KvquantPage read(SharedArena memory, ByteBuffer in, KvquantCodec codec) {
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int keyDim = Short.toUnsignedInt(in.getShort());
    int valueDim = Short.toUnsignedInt(in.getShort());
    int keyBits = in.get();
    int valueBits = in.get();
    LevelCodes keys = new LevelCodes(keyDim, TOKENS, keyBits, in.get(), codec.keys().fit());
    LevelCodes values = new LevelCodes(TOKENS, valueDim, valueBits, in.get(), codec.keys().fit());
    int turned = in.get();
    if (kvHeads != codec.kvHeads()
        || !keys.equals(codec.keys())
        || !values.equals(codec.values())
        || turned != before(codec)) {
      throw Envelope.PAGE.refused(
          "has %s; this cache has %s"
              .formatted(
                  inWords(kvHeads, keys, values, turned),
                  inWords(codec.kvHeads(), codec.keys(), codec.values(), before(codec))));
    }
    int position = Envelope.PAGE.position(in);
    Envelope.PAGE.requireRest(in, codec.pageBytes());
    KvquantPage page = new KvquantPage(memory, codec, position);
    page.bytes.copyFrom(MemorySegment.ofBuffer(in));
    return page.requirePlaces();
  }

  private static int before(KvquantCodec codec) {
    return codec.rotation().isPresent() ? 1 : 0;
  }

  private static String inWords(int kvHeads, LevelCodes keys, LevelCodes values, int before) {
    return "%d KV heads with keys %s rotation of %s and values of %s"
        .formatted(kvHeads, before == 0 ? "after" : "before", keys, values);
  }

  private KvquantPage requirePlaces() {
    for (int head = 0; head < codec.kvHeads(); head++) {
      if (!codec.keys().hasPlaces(bytes, keysOffset(head))
          || !codec.values().hasPlaces(bytes, valuesOffset(head))) {
        close();
        throw Envelope.PAGE.refused("keeps a number of head %d at no place".formatted(head));
      }
    }
    return this;
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    int keyDim = codec.keys().vectors();
    float[] channels = room.codes().grid(TOKENS * keyDim);
    codec.keys().expand(room.codes(), LevelRoom.of(room), bytes, keysOffset(kvHead), channels);
    for (int channel = 0; channel < keyDim; channel++) {
      for (int token = 0; token < tokens; token++) {
        out[token * keyDim + channel] = channels[channel * TOKENS + token];
      }
    }
    if (codec.rotation().isPresent()) {
      codec.rotation().get().turnAlong(out, 0, keyDim, tokens);
      codec.rotation().get().turn(out, 0, keyDim, tokens, position);
    }
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    int valueDim = codec.values().length();
    float[] rows = room.codes().grid(TOKENS * valueDim);
    codec.values().expand(room.codes(), LevelRoom.of(room), bytes, valuesOffset(kvHead), rows);
    System.arraycopy(rows, 0, out, 0, tokens * valueDim);
  }

  @Override
  public long codeBytes() {
    return codec.codeBytes();
  }

  /** Levels and numbers that are kept apart count as scales do. */
  @Override
  public long scaleBytes() {
    return bytes.byteSize() - codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }
}
