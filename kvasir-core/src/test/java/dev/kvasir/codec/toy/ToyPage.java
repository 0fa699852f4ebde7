package dev.kvasir.codec.toy;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Signs and sizes. There is no reader: attention expands it.
 *
 * <pre>
 * signs  (keys and values, kvHeads, tokens, headDim / 8 rounded up) bytes
 * sizes  (keys and values, kvHeads, tokens) halves
 * </pre>
 */
final class ToyPage implements Page {
  private static final int KIND = 200;
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SharedArena memory;
  private final ToyCodec codec;
  private final MemorySegment bytes;

  private ToyPage(SharedArena memory, ToyCodec codec) {
    this.codec = codec;
    this.bytes = memory.allocate(codec.pageBytes());
    this.memory = memory.retain();
  }

  static ToyPage pack(SharedArena memory, ToyCodec codec, float[] keys, float[] values) {
    ToyPage page = new ToyPage(memory, codec);
    for (int vector = 0; vector < codec.kvHeads() * TOKENS; vector++) {
      page.pack(keys, vector, vector);
      page.pack(values, vector, codec.kvHeads() * TOKENS + vector);
    }
    return page;
  }

  private void pack(float[] from, int vector, int place) {
    double sum = 0;
    for (int i = 0; i < codec.headDim(); i++) {
      float x = from[vector * codec.headDim() + i];
      sum += Math.abs(x);
      if (x < 0) {
        long at = signAt(place, i);
        byte signs = bytes.get(ValueLayout.JAVA_BYTE, at);
        bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (signs | 1 << i % Byte.SIZE));
      }
    }
    bytes.set(HALF, sizeAt(place), Float.floatToFloat16((float) (sum / codec.headDim())));
  }

  private long signAt(int place, int channel) {
    return (long) place * Math.ceilDiv(codec.headDim(), Byte.SIZE) + channel / Byte.SIZE;
  }

  private long sizeAt(int place) {
    return codec.signBytes() + (long) Short.BYTES * place;
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    expand(kvHead * TOKENS, tokens, out);
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    expand((codec.kvHeads() + kvHead) * TOKENS, tokens, out);
  }

  private void expand(int place, int tokens, float[] out) {
    for (int token = 0; token < tokens; token++) {
      float size = Float.float16ToFloat(bytes.get(HALF, sizeAt(place + token)));
      for (int i = 0; i < codec.headDim(); i++) {
        int signs = bytes.get(ValueLayout.JAVA_BYTE, signAt(place + token, i));
        boolean negative = (signs >> i % Byte.SIZE & 1) == 1;
        out[token * codec.headDim() + i] = negative ? -size : size;
      }
    }
  }

  @Override
  public byte[] form() {
    return Envelope.PAGE.seal(
        KIND,
        2 * Short.BYTES + bytes.byteSize(),
        out -> {
          out.putShort((short) codec.kvHeads()).putShort((short) codec.headDim());
          out.put(bytes.asByteBuffer());
        });
  }

  static ToyPage read(ToyCodec codec, byte[] form) {
    return Envelope.PAGE.open(
        form,
        KIND,
        in -> {
          int heads = Short.toUnsignedInt(in.getShort());
          int channels = Short.toUnsignedInt(in.getShort());
          if (heads != codec.kvHeads() || channels != codec.headDim()) {
            throw Envelope.PAGE.refused(
                "has %d KV heads of %d channels; this cache has %s"
                    .formatted(heads, channels, codec));
          }
          Envelope.PAGE.requireRest(in, codec.pageBytes());
          SharedArena own = new SharedArena();
          try {
            ToyPage page = new ToyPage(own, codec);
            page.bytes.copyFrom(MemorySegment.ofBuffer(in));
            return page;
          } finally {
            own.release();
          }
        });
  }

  @Override
  public long codeBytes() {
    return codec.codeBytes();
  }

  @Override
  public long scaleBytes() {
    return codec.pageBytes() - codec.codeBytes();
  }

  @Override
  public void close() {
    memory.release();
  }
}
