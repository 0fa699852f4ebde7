package dev.kvasir.codec.toy;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Signs and magnitudes. There is no reader: attention dequantizes the page.
 *
 * <pre>
 * signs  of keys (kvHeads, tokens, keyDim / 8 rounded up) bytes, then of values in the same way
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
      page.pack(keys, codec.keyDim(), vector, 0);
      page.pack(values, codec.valueDim(), vector, codec.kvHeads() * TOKENS);
    }
    return page;
  }

  /**
   * Quantizes a vector.
   *
   * @param before number of key vectors before those of values; 0 for keys
   */
  private void pack(float[] from, int channels, int vector, int before) {
    double sum = 0;
    for (int i = 0; i < channels; i++) {
      float x = from[vector * channels + i];
      sum += Math.abs(x);
      if (x < 0) {
        long at = signAt(channels, vector, before, i);
        byte signs = bytes.get(ValueLayout.JAVA_BYTE, at);
        bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (signs | 1 << i % Byte.SIZE));
      }
    }
    bytes.set(HALF, sizeAt(before + vector), Float.floatToFloat16((float) (sum / channels)));
  }

  private long signAt(int channels, int vector, int before, int channel) {
    long first = (long) before * ToyCodec.signBytes(codec.keyDim());
    return first + (long) vector * ToyCodec.signBytes(channels) + channel / Byte.SIZE;
  }

  private long sizeAt(int place) {
    return codec.signBytes() + (long) Short.BYTES * place;
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    expand(codec.keyDim(), kvHead * TOKENS, 0, tokens, out);
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    expand(codec.valueDim(), kvHead * TOKENS, codec.kvHeads() * TOKENS, tokens, out);
  }

  private void expand(int channels, int first, int before, int tokens, float[] out) {
    for (int token = 0; token < tokens; token++) {
      float size = Float.float16ToFloat(bytes.get(HALF, sizeAt(before + first + token)));
      for (int i = 0; i < channels; i++) {
        int signs = bytes.get(ValueLayout.JAVA_BYTE, signAt(channels, first + token, before, i));
        boolean negative = (signs >> i % Byte.SIZE & 1) == 1;
        out[token * channels + i] = negative ? -size : size;
      }
    }
  }

  @Override
  public byte[] serialize() {
    return SnapshotHeader.PAGE.wrap(
        KIND,
        3 * Short.BYTES + bytes.byteSize(),
        out -> {
          out.putShort((short) codec.kvHeads());
          out.putShort((short) codec.keyDim()).putShort((short) codec.valueDim());
          out.put(bytes.asByteBuffer());
        });
  }

  static ToyPage read(SharedArena memory, ToyCodec codec, Snapshot snapshot) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot,
        KIND,
        in -> {
          ToyCodec found =
              new ToyCodec(
                  Short.toUnsignedInt(in.getShort()),
                  Short.toUnsignedInt(in.getShort()),
                  Short.toUnsignedInt(in.getShort()));
          if (!found.equals(codec)) {
            throw SnapshotHeader.PAGE.invalid("has %s; this cache has %s".formatted(found, codec));
          }
          SnapshotHeader.PAGE.requireRemaining(in, codec.pageBytes());
          ToyPage page = new ToyPage(memory, codec);
          page.bytes.copyFrom(MemorySegment.ofBuffer(in));
          return page;
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
